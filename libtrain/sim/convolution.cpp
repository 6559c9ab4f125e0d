#include "libtrain/sim/convolution.hpp"

#include "libtrain/sim/fallback.hpp"

namespace libtrain::sim {

void convolution(const c10::OperatorHandle&, torch::jit::Stack* stack) {
  static const auto general =
      c10::Dispatcher::singleton().findSchemaOrThrow("aten::convolution", "");
  run_on_cpu_as(general, "aten::convolution", stack);
}

void convolution_backward(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  static const auto general =
      c10::Dispatcher::singleton().findSchemaOrThrow("aten::convolution_backward", "");
  // (grad_output, input, weight, ...) here, (grad_output, input, weight, bias_sizes, ...) there.
  const auto first = stack->end() - static_cast<int64_t>(op.schema().arguments().size());
  const int64_t channels = (first + 2)->toTensor().size(0);
  const bool transposed = (first + 6)->toBool();
  const int64_t groups = (first + 8)->toInt();
  const int64_t outputs = transposed ? (first + 2)->toTensor().size(1) * groups : channels;
  stack->insert(first + 3, c10::IValue(std::vector<int64_t>{outputs}));
  run_on_cpu_as(general, "aten::convolution_backward", stack);
}

}  // namespace libtrain::sim
