#include "libtrain/nn/gelu.hpp"

#include <ATen/Parallel.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/gelu.h>

#include "libtrain/kernels/table.hpp"
#include "libtrain/nn/kernel_function.hpp"

namespace libtrain {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Elements a thread takes at least: about 10 us of work.
constexpr int64_t kGrain = 16384;

template <class T>
void forward(kernels::GeluForward<T> kernel, const at::Tensor& in, const at::Tensor& out) {
  const auto* from = static_cast<const T*>(in.const_data_ptr());
  auto* to = static_cast<T*>(out.mutable_data_ptr());
  at::parallel_for(0, in.numel(), kGrain, [&](int64_t begin, int64_t end) {
    kernel(from + begin, to + begin, end - begin);
  });
}

template <class T>
void backward(kernels::GeluBackward<T> kernel, const at::Tensor& grad_out, const at::Tensor& in,
              const at::Tensor& grad_in) {
  const auto* grad = static_cast<const T*>(grad_out.const_data_ptr());
  const auto* x = static_cast<const T*>(in.const_data_ptr());
  auto* to = static_cast<T*>(grad_in.mutable_data_ptr());
  at::parallel_for(0, in.numel(), kGrain, [&](int64_t begin, int64_t end) {
    kernel(grad + begin, x + begin, to + begin, end - begin);
  });
}

struct Gelu : torch::autograd::Function<Gelu> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& input) {
    const at::Tensor in = input.contiguous();
    at::Tensor out = at::empty_like(in);
    if (in.scalar_type() == at::kFloat) {
      libtrain::forward(kernels::table().gelu_forward_f32, in, out);
    } else {
      libtrain::forward(kernels::table().gelu_forward_bf16, in, out);
    }
    context->save_for_backward({in});
    return out;
  }

  static variable_list backward(AutogradContext* context, const variable_list& grad_outputs) {
    refuse_second_derivative("nn.gelu", "call at::gelu(input)");
    const at::Tensor in = context->get_saved_variables()[0];
    const at::Tensor grad_out = grad_outputs[0].contiguous();
    at::Tensor grad_in = at::empty_like(in);
    if (in.scalar_type() == at::kFloat) {
      libtrain::backward(kernels::table().gelu_backward_f32, grad_out, in, grad_in);
    } else {
      libtrain::backward(kernels::table().gelu_backward_bf16, grad_out, in, grad_in);
    }
    return {grad_in};
  }
};

}  // namespace

at::Tensor gelu(const at::Tensor& input) {
  return kernels_take(input) ? Gelu::apply(input) : at::gelu(input);
}

}  // namespace libtrain
