#include "libtrain/nn/dropout.hpp"

#include <ATen/Parallel.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/native_dropout.h>

#include "libtrain/kernels/table.hpp"
#include "libtrain/nn/dropout_call.hpp"
#include "libtrain/nn/kernel_function.hpp"

namespace libtrain {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Elements a thread takes at least: about 10 us of work.
constexpr int64_t kGrain = 16384;

template <class T, class Kernel>
void mask(Kernel kernel, const at::Tensor& in, const at::Tensor& out, const DropoutCall& call) {
  const auto* from = static_cast<const T*>(in.const_data_ptr());
  auto* to = static_cast<T*>(out.mutable_data_ptr());
  at::parallel_for(0, in.numel(), kGrain, [&](int64_t begin, int64_t end) {
    call.for_each_part(begin, end, [&](int64_t element, const kernels::DropoutArgs& args) {
      kernel(from + element, to + element, args);
    });
  });
}

at::Tensor masked(const at::Tensor& input, const DropoutCall& call) {
  const at::Tensor in = input.contiguous();
  at::Tensor out = at::empty_like(in);
  if (in.scalar_type() == at::kFloat) {
    mask<float>(kernels::table().dropout_f32, in, out, call);
  } else {
    mask<kernels::BFloat16>(kernels::table().dropout_bf16, in, out, call);
  }
  return out;
}

struct CounterDropout : torch::autograd::Function<CounterDropout> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& input,
                            const c10::intrusive_ptr<DropoutCall>& call) {
    save_call(*context, call);
    return masked(input, *call);
  }

  static variable_list backward(AutogradContext* context, const variable_list& grad_outputs) {
    const auto call = saved_call<DropoutCall>(*context);
    return {CounterDropout::apply(grad_outputs[0], call), at::Tensor()};
  }
};

}  // namespace

at::Tensor dropout(const at::Tensor& input, double probability, bool training,
                   const PackedLayoutPtr& layout) {
  check_dropout(input, probability, layout);
  if (!training || probability == 0.0) {
    return input;
  }
  if (!kernels_take(input)) {
    return std::get<0>(at::native_dropout(input, probability, /*train=*/true));
  }
  return CounterDropout::apply(input, c10::make_intrusive<DropoutCall>(input, layout, probability));
}

}  // namespace libtrain
