#include "libtrain/plan/choose_prefetch.hpp"

namespace libtrain {

Decision<int> choose_prefetch(const Request<int>& asked, int data_workers) {
  constexpr int kAhead = 2;
  if (asked.value) {
    return grant_later(asked);
  }
  if (data_workers == 0) {
    return {0, Source::kFacts, "no worker makes batches ahead"};
  }
  return {kAhead, Source::kDefault, "one batch is trained on while the next is made"};
}

}  // namespace libtrain
