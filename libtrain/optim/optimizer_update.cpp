// Update: what moves, by which form of the rule, and what is left of the gradients.

#include <ATen/autocast_mode.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_add.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "libtrain/core/require.hpp"
#include "libtrain/optim/optimizer.hpp"
#include "libtrain/optim/row_gradient.hpp"
#include "libtrain/runtime/planned_forms.hpp"

namespace libtrain {
namespace {

std::string describe(const at::Tensor& tensor) {
  return libtrain::fill("{} {} on {}", c10::toString(tensor.scalar_type()),
                        c10::str(tensor.sizes()), tensor.device().str());
}

bool same_kind(const at::Tensor& a, const at::Tensor& b) {
  return a.device() == b.device() && a.scalar_type() == b.scalar_type() && a.sizes() == b.sizes();
}

/// Whether elements at the same index lie at the same offset.
bool same_layout(const at::Tensor& a, const at::Tensor& b) {
  for (int64_t i = 0; i < a.dim(); ++i) {
    if (a.size(i) != 1 && a.stride(i) != b.stride(i)) {
      return false;
    }
  }
  return true;
}

at::Tensor in_layout_of(const at::Tensor& like, const at::Tensor& tensor) {
  return same_layout(like, tensor) ? tensor : at::empty_like(like).copy_(tensor);
}

at::Tensor as_real(const at::Tensor& tensor) {
  return tensor.is_complex() ? at::view_as_real(tensor) : tensor;
}

/// Sparse in the first dimension only.
bool is_by_rows(const at::Tensor& gradient) {
  return gradient.is_sparse() && gradient.sparse_dim() == 1;
}

bool has_kernel(const at::Tensor& real) {
  return real.is_cpu() && real.scalar_type() == at::kFloat;
}

void check_number(const at::Tensor& number, const char* name) {
  require(!number.defined() || (number.dim() == 0 && number.scalar_type() == at::kFloat),
          "[optim.update] {} is {}, expected Float []", name,
          number.defined() ? describe(number) : "undefined");
}

std::optional<at::Tensor> on(at::Device device, const at::Tensor& number) {
  if (!number.defined()) {
    return std::nullopt;
  }
  return number.to(device, /*non_blocking=*/true);
}

template <class Moving, class Pick>
std::vector<at::Tensor> list_of(const std::vector<Moving>& moving, const Pick& pick) {
  std::vector<at::Tensor> list;
  for (const Moving& entry : moving) {
    list.push_back(pick(entry));
  }
  return list;
}

}  // namespace

std::vector<at::Tensor> Optimizer::parameters_of(const std::vector<Moving>& moving) {
  return list_of(moving, [](const Moving& entry) { return entry.parameter; });
}

std::vector<at::Tensor> Optimizer::gradients_of(const std::vector<Moving>& moving) {
  return list_of(moving, [](const Moving& entry) { return entry.gradient; });
}

std::vector<at::Tensor> Optimizer::values_of(const std::vector<Moving>& moving, size_t index) {
  return list_of(moving, [index](const Moving& entry) { return entry.values[index]; });
}

std::vector<at::Tensor> Optimizer::steps_of(const std::vector<Moving>& moving) {
  return list_of(moving, [](const Moving& entry) { return entry.slot->step; });
}

void Optimizer::prepare_state(Slot& slot) const {
  const size_t count = state_names().size();
  if (count == 0) {
    return;
  }
  if (!slot.step.defined()) {
    for (size_t i = 0; i < count; ++i) {
      slot.values.push_back(at::zeros_like(slot.parameter));
    }
    slot.step = at::zeros({}, slot.parameter.options().dtype(at::kFloat));
  }
  for (at::Tensor& value : slot.values) {
    if (!same_kind(slot.parameter, value)) {
      throw InvalidOption(libtrain::fill(
          "[optim.update] state of {} is {}, the parameter {}; make the optimizer after moving the "
          "model, or load its state_dict() into a new one",
          quote(slot.name), describe(value), describe(slot.parameter)));
    }
    value = in_layout_of(slot.parameter, value);
  }
}

/// Messages are built on failure only: this runs for every parameter in every step.
void Optimizer::check_moving(const Slot& slot, bool by_rows, bool in_bf16) {
  const at::Tensor& parameter = slot.parameter;
  const at::Tensor& gradient = parameter.grad();
  if (!by_rows && gradient.layout() != at::kStrided) {
    throw Unsupported(
        libtrain::fill("[optim.update] the gradient of {} is sparse; make it dense (sparse=false)",
                       quote(slot.name)));
  }
  if (in_bf16 ? gradient.sizes() != parameter.sizes() : !same_kind(parameter, gradient)) {
    throw InvalidOption(libtrain::fill("[optim.update] the gradient of {} is {}, the parameter {}",
                                       quote(slot.name), describe(gradient), describe(parameter)));
  }
  if (!parameter.is_non_overlapping_and_dense()) {
    throw Unsupported(
        libtrain::fill("[optim.update] {} is a view with gaps or overlaps; use a contiguous tensor",
                       quote(slot.name)));
  }
  if (by_rows && !parameter.is_contiguous()) {
    throw Unsupported(
        libtrain::fill("[optim.update] the gradient of {} is sparse, the parameter not contiguous; "
                       "use a contiguous tensor",
                       quote(slot.name)));
  }
}

std::vector<Optimizer::Moving> Optimizer::collect_moving(GradientForms forms) {
  std::vector<Moving> moving;
  moving.reserve(slots_.size());
  for (Slot& slot : slots_) {
    const at::Tensor& parameter = slot.parameter;
    const at::Tensor& gradient = parameter.grad();
    if (!parameter.requires_grad() || !gradient.defined()) {
      continue;
    }
    const bool by_rows = forms.rows && is_by_rows(gradient) && has_kernel(parameter);
    const bool in_bf16 = forms.computed && !gradient.is_sparse() && has_kernel(parameter) &&
                         gradient.scalar_type() == at::kBFloat16;
    check_moving(slot, by_rows, in_bf16);
    prepare_state(slot);
    Moving entry{.slot = &slot, .parameter = as_real(parameter)};
    if (by_rows) {
      const RowGradient sums = row_gradient(gradient);
      entry.gradient = sums.values;
      entry.rows = sums.rows;
      entry.gradient_is_copy = true;
    } else {
      const at::Tensor usable =
          in_layout_of(parameter, gradient.is_conj() ? gradient.resolve_conj() : gradient);
      entry.gradient = as_real(usable);
      entry.gradient_is_copy = in_bf16 || !usable.is_same(gradient);
    }
    for (const at::Tensor& value : slot.values) {
      entry.values.push_back(as_real(value));
    }
    moving.push_back(std::move(entry));
  }
  return moving;
}

void Optimizer::run_fused(const std::vector<Moving>& moving, const NumbersFor& numbers_for) {
  using Key = std::tuple<size_t, std::string, at::ScalarType>;
  std::map<Key, std::vector<Moving>> buckets;
  for (const Moving& entry : moving) {
    buckets[{entry.slot->group, entry.parameter.device().str(), entry.parameter.scalar_type()}]
        .push_back(entry);
  }
  for (const auto& [key, bucket] : buckets) {
    const Group& group = groups_[std::get<0>(key)];
    const at::Device device = bucket.front().parameter.device();
    const FusedNumbers numbers = numbers_for(group, device);
    if (bucket.front().slot->step.defined()) {
      const at::Tensor one = at::ones({}, at::dtype(at::kFloat).device(device));
      at::_foreach_add_(steps_of(bucket), numbers.found_inf ? one - *numbers.found_inf : one);
    }
    update_fused(group, bucket, numbers);
  }
}

void Optimizer::finish(const std::vector<Moving>& moving, GradientsAfter after, bool zeroed) {
  for (const Moving& entry : moving) {
    // The writes above go past autograd: let it notice a graph that still needs the old values.
    entry.slot->parameter.unsafeGetTensorImpl()->bump_version();
    at::Tensor& gradient = entry.slot->parameter.mutable_grad();
    if (after == GradientsAfter::kFreed) {
      gradient.reset();
    } else if (after == GradientsAfter::kZeroed && (!zeroed || entry.gradient_is_copy)) {
      gradient.zero_();
    }
  }
  at::autocast::clear_cache();
}

void Optimizer::update(const HostUpdate& numbers) {
  require(std::isfinite(numbers.lr_factor) && std::isfinite(numbers.grad_multiplier),
          "[optim.update] lr_factor={}, grad_multiplier={}, expected finite numbers",
          numbers.lr_factor, numbers.grad_multiplier);
  const at::NoGradGuard no_grad;
  const bool own = planned_forms().optimizer == OptimizerForm::kOwnKernel;
  std::vector<Moving> with_kernel = collect_moving(gradient_forms());
  const auto first = std::stable_partition(
      with_kernel.begin(), with_kernel.end(),
      [own](const Moving& entry) { return own && has_kernel(entry.parameter); });
  const std::vector<Moving> others(first, with_kernel.end());
  with_kernel.erase(first, with_kernel.end());

  for (const Moving& entry : with_kernel) {
    if (entry.slot->step.defined()) {
      *entry.slot->step.mutable_data_ptr<float>() += 1.0F;
    }
  }
  update_with_kernels(with_kernel, numbers);
  run_fused(others, [&](const Group& group, at::Device device) {
    FusedNumbers fused;
    fused.lr = at::scalar_tensor(group.lr * numbers.lr_factor, at::kDouble);
    if (numbers.grad_multiplier != 1.0) {
      fused.grad_divisor =
          at::full({}, 1.0 / numbers.grad_multiplier, at::dtype(at::kFloat).device(device));
    }
    return fused;
  });
  finish(with_kernel, numbers.gradients, /*zeroed=*/true);
  finish(others, numbers.gradients, /*zeroed=*/false);
}

void Optimizer::update(const DeviceUpdate& numbers) {
  check_number(numbers.lr_factor, "lr_factor");
  check_number(numbers.grad_divisor, "grad_divisor");
  check_number(numbers.found_inf, "found_inf");
  const at::NoGradGuard no_grad;
  const std::vector<Moving> moving = collect_moving({});
  run_fused(moving, [&](const Group& group, at::Device device) {
    const std::optional<at::Tensor> factor = on(device, numbers.lr_factor);
    return FusedNumbers{factor ? *factor * group.lr : at::scalar_tensor(group.lr, at::kDouble),
                        on(device, numbers.grad_divisor), on(device, numbers.found_inf)};
  });
  finish(moving, numbers.gradients, /*zeroed=*/false);
}

}  // namespace libtrain
