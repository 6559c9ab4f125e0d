#include "libtrain/optim/optimizer.hpp"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "libtrain/core/require.hpp"
#include "libtrain/core/warning.hpp"
#include "libtrain/optim/gradient_norm.hpp"

namespace libtrain {
namespace {

void check_parameter(const Parameter& parameter) {
  const std::string name = quote(parameter.name);
  const at::Tensor& tensor = parameter.tensor;
  require(tensor.defined(), "[optim.create] parameter {} is undefined", name);
  require(
      tensor.is_leaf(),
      "[optim.create] parameter {} is the result of an operation, expected a leaf; pass the tensor "
      "it was made from",
      name);
  require(tensor.is_floating_point() || tensor.is_complex(),
          "[optim.create] parameter {} cannot have a gradient: dtype={}, expected a floating-point "
          "type",
          name, c10::toString(tensor.scalar_type()));
  require<Unsupported>(tensor.layout() == at::kStrided,
                       "[optim.create] parameter {} is not dense; use a dense tensor", name);
}

void warn_of_half_parameters(const Parameters& parameters) {
  int64_t count = 0;
  std::string first;
  for (const ParameterGroup& group : parameters.groups) {
    for (const Parameter& parameter : group.parameters) {
      if (at::isReducedFloatingType(parameter.tensor.scalar_type()) && count++ == 0) {
        first = parameter.name;
      }
    }
  }
  if (count > 0) {
    warn(libtrain::fill(
        "[optim.create] {} parameters are in 16 bit, the first is {}: updates below 1/256 of a "
        "weight (bfloat16) are rounded away; keep fp32 weights and use Autocast",
        count, quote(first)));
  }
}

void check_group(double lr, double weight_decay) {
  require(std::isfinite(lr) && lr >= 0.0, "[optim.lr] lr={}, expected a finite number >= 0", lr);
  require(std::isfinite(weight_decay) && weight_decay >= 0.0,
          "[optim.create] weight_decay={}, expected a finite number >= 0", weight_decay);
}

}  // namespace

Optimizer::Optimizer(Parameters parameters, Group defaults) : parameters_(std::move(parameters)) {
  std::set<std::string> names;
  std::map<const void*, std::string> tensors;
  for (const ParameterGroup& group : parameters_.groups) {
    for (const Parameter& parameter : group.parameters) {
      check_parameter(parameter);
      require(names.insert(parameter.name).second,
              "[optim.create] two parameters are named {}; give each its own name",
              quote(parameter.name));
      const auto [first, is_new] =
          tensors.emplace(parameter.tensor.unsafeGetTensorImpl(), parameter.name);
      require(is_new,
              "[optim.create] parameters {} and {} are one tensor; name it once, in one group",
              quote(first->second), quote(parameter.name));
      slots_.push_back({parameter.name, parameter.tensor, groups_.size(), {}, {}});
    }
    groups_.push_back({group.options.lr.value_or(defaults.lr),
                       group.options.weight_decay.value_or(defaults.weight_decay)});
    check_group(groups_.back().lr, groups_.back().weight_decay);
  }
  require(!slots_.empty(), "[optim.create] there are no parameters; is the whole model frozen?");
  warn_of_half_parameters(parameters_);
}

Optimizer::~Optimizer() = default;

void Optimizer::set_lr(double lr) {
  for (size_t group = 0; group < groups_.size(); ++group) {
    set_lr(group, lr);
  }
}

void Optimizer::set_lr(size_t group, double lr) {
  require(group < groups_.size(), "[optim.lr] group={}, expected less than {}", group,
          groups_.size());
  set_group(group, {lr, groups_[group].weight_decay});
}

void Optimizer::set_group(size_t group, const Group& values) {
  require(group < groups_.size(), "[optim.set_options] group={}, expected less than {}", group,
          groups_.size());
  check_group(values.lr, values.weight_decay);
  groups_[group] = values;
}

std::vector<at::Tensor> Optimizer::gradients() const {
  std::vector<at::Tensor> gradients;
  for (const Slot& slot : slots_) {
    if (slot.parameter.requires_grad() && slot.parameter.grad().defined()) {
      gradients.push_back(slot.parameter.grad());
    }
  }
  return gradients;
}

StepOutcome Optimizer::step() {
  const std::vector<at::Tensor> gradients = this->gradients();
  if (gradients.empty()) {
    return StepOutcome::kNoGradients;
  }
  const bool on_cpu = std::all_of(gradients.begin(), gradients.end(),
                                  [](const at::Tensor& gradient) { return gradient.is_cpu(); });
  if (skip_non_finite_ && !on_cpu) {
    const at::NoGradGuard no_grad;
    DeviceUpdate numbers;
    numbers.found_inf = gradient_norm_on_device(gradients).isfinite().logical_not().to(at::kFloat);
    update(numbers);
    return StepOutcome::kDecidedOnDevice;
  }
  if (skip_non_finite_ && !std::isfinite(gradient_norm(gradients))) {
    return StepOutcome::kSkipped;
  }
  update(HostUpdate{});
  return StepOutcome::kApplied;
}

void Optimizer::zero_grad(bool set_to_none) {
  const at::NoGradGuard no_grad;
  for (const Slot& slot : slots_) {
    at::Tensor& gradient = slot.parameter.mutable_grad();
    if (set_to_none) {
      gradient.reset();
    } else if (gradient.defined()) {
      gradient.detach_().zero_();
    }
  }
}

}  // namespace libtrain
