// Meta tensors have shapes and no numbers: reading one on the host throws, so code that runs on
// them waits for no device. LibTorch's C++ side has no meta kernels for the operators below.

#include <ATen/ops/empty_like.h>
#include <torch/library.h>

namespace {

at::Tensor truth_like(const at::Tensor& tensor) {
  return at::empty_like(tensor, tensor.options().dtype(at::kBool));
}

/// For operators that change tensors in place and return nothing.
void drop_arguments(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  torch::jit::drop(*stack, op.schema().arguments().size());
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, Meta, library) {
  library.impl("abs", [](const at::Tensor& x) { return at::empty_like(x); });
  library.impl("logical_not", [](const at::Tensor& x) { return truth_like(x); });
  library.impl("logical_and", [](const at::Tensor& x, const at::Tensor&) { return truth_like(x); });
  library.impl("where.self", [](const at::Tensor&, const at::Tensor& x, const at::Tensor&) {
    return at::empty_like(x);
  });
  for (const char* name : {"_fused_adam_.tensor_lr", "_fused_adamw_.tensor_lr",
                           "_fused_sgd_.tensor_lr", "_amp_foreach_non_finite_check_and_unscale_"}) {
    library.impl(name, torch::CppFunction::makeFromBoxedFunction<&drop_arguments>());
  }
}
