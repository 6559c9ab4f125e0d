#include "libtrain/optim/clip.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/where.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "libtrain/core/require.hpp"
#include "libtrain/optim/clip_on_device.hpp"
#include "libtrain/optim/gradient_norm.hpp"
#include "libtrain/optim/norm_parts.hpp"

namespace libtrain {
namespace {

constexpr double kEpsilon = 1e-6;  // PyTorch's

/// What to scale: the gradients, or the values of sparse ones, coalesced in place first.
std::vector<at::Tensor> gradients_of(const std::vector<at::Tensor>& parameters) {
  std::vector<at::Tensor> gradients;
  for (const at::Tensor& parameter : parameters) {
    at::Tensor& gradient = parameter.mutable_grad();
    if (!gradient.defined()) {
      continue;
    }
    if (gradient.is_sparse()) {
      gradient = gradient.coalesce();
      gradients.push_back(gradient._values());
    } else {
      gradients.push_back(gradient);
    }
  }
  return gradients;
}

void check_finite(double norm, double norm_type, size_t count) {
  require<Error>(
      std::isfinite(norm),
      "[optim.clip_grad_norm] the {}-norm of {} gradients is {}, expected a finite number; "
      "skip this step or pass error_if_nonfinite=false",
      norm_type, count, norm);
}

at::Tensor clip_on_cpu(const std::vector<at::Tensor>& gradients, double max_norm, double norm_type,
                       bool error_if_nonfinite) {
  const double norm = norm_type == 2.0
                          ? gradient_norm(gradients)
                          : norm_on_device(norm_parts(gradients), norm_type).item<double>();
  if (error_if_nonfinite) {
    check_finite(norm, norm_type, gradients.size());
  }
  const double coefficient = max_norm / (norm + kEpsilon);
  if (std::isfinite(norm) && coefficient < 1.0) {
    at::_foreach_mul_(gradients, coefficient);
  }
  return at::scalar_tensor(norm, at::kFloat);
}

}  // namespace

at::Tensor clip_on_device(const std::vector<at::Tensor>& gradients, double max_norm,
                          double norm_type, bool error_if_nonfinite) {
  const at::Tensor norm = norm_on_device(norm_parts(gradients), norm_type);
  if (error_if_nonfinite) {
    check_finite(norm.item<double>(), norm_type, gradients.size());
  }
  const at::Tensor clipping = (norm + kEpsilon).reciprocal().mul(max_norm).clamp_max(1.0);
  const at::Tensor coefficient =
      at::where(norm.isfinite(), clipping, at::ones_like(clipping)).to(at::kFloat);
  std::map<std::string, std::vector<at::Tensor>> by_kind;
  for (const at::Tensor& gradient : gradients) {
    by_kind[gradient.device().str() + c10::toString(gradient.scalar_type())].push_back(gradient);
  }
  for (const auto& [kind, list] : by_kind) {
    at::_foreach_mul_(list, coefficient.to(list.front().device(), /*non_blocking=*/true));
  }
  return norm.to(at::kFloat);
}

at::Tensor clip_grad_norm_(const std::vector<at::Tensor>& parameters, double max_norm,
                           double norm_type, bool error_if_nonfinite) {
  require(max_norm >= 0.0, "[optim.clip_grad_norm] max_norm={}, expected a number >= 0", max_norm);
  require(norm_type > 0.0, "[optim.clip_grad_norm] norm_type={}, expected a number > 0 or infinity",
          norm_type);
  const at::NoGradGuard no_grad;
  const std::vector<at::Tensor> gradients = gradients_of(parameters);
  const bool on_cpu = std::all_of(gradients.begin(), gradients.end(),
                                  [](const at::Tensor& gradient) { return gradient.is_cpu(); });
  return on_cpu ? clip_on_cpu(gradients, max_norm, norm_type, error_if_nonfinite)
                : clip_on_device(gradients, max_norm, norm_type, error_if_nonfinite);
}

at::Tensor clip_grad_norm_(const Parameters& parameters, double max_norm, double norm_type,
                           bool error_if_nonfinite) {
  std::vector<at::Tensor> tensors;
  for (const ParameterGroup& group : parameters.groups) {
    for (const Parameter& parameter : group.parameters) {
      tensors.push_back(parameter.tensor);
    }
  }
  return clip_grad_norm_(tensors, max_norm, norm_type, error_if_nonfinite);
}

}  // namespace libtrain
