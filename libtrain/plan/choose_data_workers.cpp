#include "libtrain/plan/choose_data_workers.hpp"

#include <algorithm>

namespace libtrain {

Decision<int> choose_data_workers(const Request<int>& asked, DeviceType device, int threads) {
  constexpr int kUsual = 4;
  if (asked.value) {
    return grant_later(asked);
  }
  if (device == DeviceType::kCpu) {
    return {0, Source::kFacts, "the step has work for every core"};
  }
  return {std::clamp(threads - 1, 0, kUsual), Source::kFacts,
          fill("of threads={}, one drives the GPU", threads)};
}

}  // namespace libtrain
