#include "libtrain/runtime/settings.hpp"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/SDPBackend.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tanh.h>

#include <exception>
#include <utility>

#include "libtrain/core/text.hpp"
#include "libtrain/core/warning.hpp"
#include "libtrain/runtime/allocator.hpp"
#include "libtrain/runtime/planned_forms.hpp"
#include "libtrain/runtime/torch_compat.hpp"

namespace libtrain {
namespace {

/// Sets a value through `set` unless it is there already, and puts the old one back at the end.
template <class T, class Set>
void set_scoped(SettingsGuard& guard, T current, T wanted, Set set) {
  if (current == wanted) {
    return;
  }
  set(wanted);
  guard.on_exit([set, current] { set(current); });
}

void set_fp32_matmul(SettingsGuard& guard, MatmulPrecision precision) {
  const auto wanted =
      precision == MatmulPrecision::kTf32 ? at::Float32Precision::TF32 : at::Float32Precision::IEEE;
  for (const at::Float32Op op : {at::Float32Op::MATMUL, at::Float32Op::CONV, at::Float32Op::RNN}) {
    set_scoped(guard, compat::cuda_fp32_precision(op), wanted,
               [op](at::Float32Precision value) { compat::set_cuda_fp32_precision(op, value); });
  }
}

/// The chosen backend first, the others as ATen orders them.
void prefer_attention(SettingsGuard& guard, AttentionKind kind) {
  using Backend = at::SDPBackend;
  std::vector<int64_t> order;
  const auto add = [&](Backend backend) { order.push_back(static_cast<int64_t>(backend)); };
  switch (kind) {
    case AttentionKind::kShort:
      return;
    case AttentionKind::kCudnn:
      add(Backend::cudnn_attention);
      break;
    case AttentionKind::kFlash:
      add(Backend::flash_attention);
      break;
    case AttentionKind::kEfficient:
      add(Backend::efficient_attention);
      break;
    case AttentionKind::kMath:
      add(Backend::math);
      break;
  }
  for (const auto value : at::globalContext().sDPPriorityOrder()) {
    if (static_cast<int64_t>(value) != order.front()) {
      add(value);
    }
  }
  std::vector<int64_t> previous;
  for (const auto value : at::globalContext().sDPPriorityOrder()) {
    previous.push_back(static_cast<int64_t>(value));
  }
  at::globalContext().setSDPPriorityOrder(order);
  guard.on_exit([previous] { at::globalContext().setSDPPriorityOrder(previous); });
}

/// On the CPU ATen has one fused form, "flash"; math is what is left without it.
void forbid_fused_attention(SettingsGuard& guard, AttentionKind kind) {
  set_scoped(guard, at::globalContext().userEnabledFlashSDP(), kind != AttentionKind::kMath,
             [](bool on) { at::globalContext().setSDPUseFlash(on); });
}

/// MKL's vector functions (tanh, exp, …) choose their code at their first call, and two threads
/// that make it at once may each choose another: about one process in 75 then differs in the last
/// bits for good. So one thread calls first.
void settle_vector_functions() { at::tanh(at::ones({1})); }

}  // namespace

SettingsGuard::~SettingsGuard() {
  for (auto undo = undo_.rbegin(); undo != undo_.rend(); ++undo) {
    try {
      (*undo)();
    } catch (const std::exception& error) {
      warn(fill("[settings.restore] a setting could not be put back: {}", error.what()));
    }
  }
}

SettingsGuard::SettingsGuard(SettingsGuard&& other) noexcept
    : undo_(std::exchange(other.undo_, {})) {}

SettingsGuard& SettingsGuard::operator=(SettingsGuard&& other) noexcept {
  std::swap(undo_, other.undo_);
  return *this;
}

SettingsGuard apply_settings(const Plan& plan) {
  SettingsGuard guard;
  set_scoped(guard, at::get_num_threads(), plan.threads.value,
             [](int threads) { at::set_num_threads(threads); });
  if (plan.device.value.type == DeviceType::kCuda) {
    set_fp32_matmul(guard, plan.fp32_matmul.value);
    set_scoped(guard, at::globalContext().benchmarkCuDNN(), plan.cudnn_benchmark.value,
               [](bool on) { at::globalContext().setBenchmarkCuDNN(on); });
    prefer_attention(guard, plan.attention.value);
  } else {
    forbid_fused_attention(guard, plan.attention.value);
    set_scoped(guard, planned_forms(),
               {.attention = plan.attention.value, .optimizer = plan.optimizer.value},
               [](PlannedForms forms) { set_planned_forms(forms); });
  }
  apply_allocator(plan.allocator.value);
  settle_vector_functions();
  return guard;
}

}  // namespace libtrain
