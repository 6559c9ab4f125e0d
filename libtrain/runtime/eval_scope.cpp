#include "libtrain/runtime/eval_scope.hpp"

#include <torch/nn/module.h>

namespace libtrain {

EvalScope::EvalScope(const std::shared_ptr<torch::nn::Module>& module) {
  if (module == nullptr) {
    return;
  }
  for (const auto& part : module->modules(/*include_self=*/true)) {
    modes_.emplace_back(part, part->is_training());
  }
  module->eval();
}

EvalScope::~EvalScope() {
  // A container's train() reaches its children; children come later in the list and get their own
  // back.
  for (const auto& [module, training] : modes_) {
    module->train(training);
  }
}

}  // namespace libtrain
