#include "libtrain/plan/choose_optimizer.hpp"

namespace libtrain {

Decision<OptimizerForm> choose_optimizer(const Request<OptimizerForm>& asked, DeviceType device) {
  const bool cpu = device == DeviceType::kCpu;
  if (!asked.value) {
    return cpu ? Decision<OptimizerForm>{OptimizerForm::kOwnKernel, Source::kFacts,
                                         "one pass over memory on the CPU"}
               : Decision<OptimizerForm>{OptimizerForm::kFused, Source::kFacts,
                                         "ATen's fused form is the fastest on CUDA"};
  }
  const bool own = *asked.value == OptimizerForm::kOwnKernel;
  if (own && !cpu) {
    refuse("optimizer", "own_kernel", asked.origin, "the own kernel runs on the CPU only",
           "ask for fused");
  }
  return grant(asked, cpu && !own ? "on a CPU it passes over memory more often" : "");
}

}  // namespace libtrain
