#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/custom_function.h>

#include <string_view>

#include "libtrain/core/require.hpp"

// What the autograd functions over kernels/ share.

namespace libtrain {

/// Whether the kernels have a form for it: on the CPU, strided, fp32 or bf16.
inline bool kernels_take(const at::Tensor& x) {
  return x.is_cpu() && x.layout() == at::kStrided &&
         (x.scalar_type() == at::kFloat || x.scalar_type() == at::kBFloat16);
}

/// Keeps for backward what is no tensor.
template <class Call>
void save_call(torch::autograd::AutogradContext& context, const c10::intrusive_ptr<Call>& call) {
  context.saved_data["call"] = c10::IValue::make_capsule(call);
}

template <class Call>
c10::intrusive_ptr<Call> saved_call(const torch::autograd::AutogradContext& context) {
  return c10::static_intrusive_pointer_cast<Call>(context.saved_data.at("call").toCapsule());
}

/// For a backward that autograd cannot differentiate again: throws Unsupported under
/// create_graph=true and says what to use instead.
inline void refuse_second_derivative(std::string_view function, std::string_view instead) {
  require<Unsupported>(!at::GradMode::is_enabled(),
                       "[{}] no second derivative: create_graph=true; {}", function, instead);
}

}  // namespace libtrain
