#include "libtrain/amp/unscale.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_amp_foreach_non_finite_check_and_unscale.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/view_as_real.h>
#include <ATen/ops/zeros.h>

#include <string>
#include <vector>

#include "libtrain/core/require.hpp"

namespace libtrain {
namespace {

void refuse_half(const Parameters& parameters) {
  std::vector<std::string> names;
  for (const ParameterGroup& group : parameters.groups) {
    for (const Parameter& parameter : group.parameters) {
      const at::Tensor& gradient = parameter.tensor.grad();
      if (gradient.defined() && gradient.scalar_type() == at::kHalf) {
        names.push_back(quote(parameter.name));
      }
    }
  }
  require(
      names.empty(),
      "[amp.unscale] gradients in fp16 cannot be unscaled: {}; keep the parameters in fp32 and use "
      "Autocast",
      join(names, ", "));
}

/// Gradients of one device and dtype.
using ByKind = std::map<std::string, std::vector<at::Tensor>>;

ByKind collect_gradients(const Parameters& parameters) {
  ByKind kinds;
  for (const ParameterGroup& group : parameters.groups) {
    for (const Parameter& parameter : group.parameters) {
      at::Tensor& gradient = parameter.tensor.mutable_grad();
      if (!gradient.defined()) {
        continue;
      }
      if (gradient.is_sparse()) {
        gradient = gradient.coalesce();
      }
      at::Tensor values = gradient.is_sparse() ? gradient._values() : gradient;
      values = values.is_complex() ? at::view_as_real(values) : values;
      kinds[values.device().str() + c10::toString(values.scalar_type())].push_back(values);
    }
  }
  return kinds;
}

}  // namespace

at::Tensor unscale_gradients(const Parameters& parameters, const at::Tensor& scale) {
  const at::NoGradGuard no_grad;
  refuse_half(parameters);
  // In double and rounded once, as PyTorch.
  const at::Tensor inverse = scale.to(at::kDouble).reciprocal().to(at::kFloat);
  at::Tensor found_inf;
  for (const auto& [kind, gradients] : collect_gradients(parameters)) {
    const at::Device device = gradients.front().device();
    at::Tensor found_here = at::zeros({}, at::dtype(at::kFloat).device(device));
    at::_amp_foreach_non_finite_check_and_unscale_(gradients, found_here,
                                                   inverse.to(device, /*non_blocking=*/true));
    found_here = found_here.to(scale.device(), /*non_blocking=*/true);
    found_inf = found_inf.defined() ? at::maximum(found_inf, found_here) : found_here;
  }
  return found_inf;
}

}  // namespace libtrain
