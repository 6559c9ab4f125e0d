#include "libtrain/plan/choose_cudnn_benchmark.hpp"

namespace libtrain {

Decision<bool> choose_cudnn_benchmark(const Request<bool>& asked, DeviceType device,
                                      const ModelFacts& model) {
  if (asked.value) {
    return grant(asked,
                 *asked.value && device == DeviceType::kCpu ? "without effect on a CPU" : "");
  }
  if (device == DeviceType::kCpu) {
    return {false, Source::kFacts, "no cuDNN on the CPU"};
  }
  if (model.has_convolutions == false) {
    return {false, Source::kFacts, "the model has no convolutions"};
  }
  if (model.static_shapes == false) {
    return {false, Source::kFacts, "the model's shapes vary: each new one would be timed again"};
  }
  if (!model.has_convolutions || !model.static_shapes) {
    return {false, Source::kDefault, "no model has said that its shapes are static"};
  }
  return {true, Source::kFacts, "convolutions of static shapes are timed once"};
}

}  // namespace libtrain
