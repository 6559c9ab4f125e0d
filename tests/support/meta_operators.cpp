// Meta tensors have shapes and no numbers: reading one on the host throws, so code that runs on
// them waits for no device. The operators below have no meta kernels of LibTorch's own; they change
// tensors in place and return nothing, so doing nothing is right.

#include <torch/library.h>

namespace {

void drop_arguments(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  torch::jit::drop(*stack, op.schema().arguments().size());
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, Meta, library) {
  for (const char* name : {"_fused_adam_.tensor_lr", "_fused_adamw_.tensor_lr",
                           "_fused_sgd_.tensor_lr", "_amp_foreach_non_finite_check_and_unscale_"}) {
    library.impl(name, torch::CppFunction::makeFromBoxedFunction<&drop_arguments>());
  }
}
