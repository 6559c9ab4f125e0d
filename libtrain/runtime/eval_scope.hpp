#pragma once

#include <ATen/core/grad_mode.h>

#include <memory>
#include <utility>
#include <vector>

#include "libtrain/core/api.hpp"

namespace torch::nn {
class Module;
}

namespace libtrain {

/// Evaluation: no gradients are recorded and the module's layers are in evaluation mode (no
/// dropout, running statistics). Every layer's own mode is put back at the end.
class LT_API EvalScope {
 public:
  explicit EvalScope(const std::shared_ptr<torch::nn::Module>& module);
  ~EvalScope();
  EvalScope(const EvalScope&) = delete;
  EvalScope& operator=(const EvalScope&) = delete;
  EvalScope(EvalScope&&) = delete;
  EvalScope& operator=(EvalScope&&) = delete;

 private:
  std::vector<std::pair<std::shared_ptr<torch::nn::Module>, bool>> modes_;
  at::NoGradGuard no_grad_;
};

}  // namespace libtrain
