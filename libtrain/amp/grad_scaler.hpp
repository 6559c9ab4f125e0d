#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "libtrain/core/api.hpp"
#include "libtrain/policy/loss_scale.hpp"
#include "libtrain/policy/skip_counter.hpp"
#include "libtrain/runtime/step_state.hpp"
#include "libtrain/runtime/updatable.hpp"

namespace libtrain {

/// Saved state under PyTorch's names: "scale", "growth_factor", "backoff_factor", "growth_interval"
/// and
/// "_growth_tracker". Empty for a disabled scaler.
using GradScalerState = std::map<std::string, double>;

/// Scales losses so that fp16 gradients do not vanish, with the calls and decisions of
/// torch.amp.GradScaler:
///
///   scaler.scale(loss).backward();
///   scaler.unscale_(optimizer);           // only to clip or look at gradients
///   clip_grad_norm_(parameters, 1.0);
///   scaler.step(optimizer);               // skips when a gradient is not finite
///   scaler.update();
///
/// All numbers stay on the device; none of these calls waits for it. What differs from PyTorch:
/// step() says what it did; an optimizer without gradients is no error; the scale stays within
/// min_scale and max_scale; fp16 gradients are refused by step() as by unscale_().
///
/// A disabled scaler (bf16 and fp32 need none) passes losses through, and step() is the
/// optimizer's.
class LT_API GradScaler {
 public:
  /// Throws InvalidOption for options out of range.
  explicit GradScaler(at::Device device, const LossScaleOptions& options = {}, bool enabled = true);

  at::Tensor scale(const at::Tensor& output);
  std::vector<at::Tensor> scale(const std::vector<at::Tensor>& outputs);

  /// Divides the optimizer's gradients by the scale and notes whether they are finite. At most once
  /// between two update(). Throws InvalidOption when called again, after step(), before any
  /// scale(), or for fp16 gradients (it names their parameters, and no gradient has changed).
  void unscale_(Updatable& optimizer);

  /// Unscales unless that was done, and updates the weights unless a gradient is not finite. On a
  /// device the device decides and the result is kDecidedOnDevice. At most once between two
  /// update().
  StepOutcome step(Updatable& optimizer);

  /// Ends the iteration: the scale backs off when a gradient of any optimizer was not finite and
  /// grows after growth_interval finite iterations; it stays as it is when no optimizer had a
  /// gradient. Throws InvalidOption when neither unscale_() nor step() was called since the last
  /// time, and, on the CPU, Error after kMaxSkipsInRow iterations in a row that were not finite.
  void update();
  /// Ends the iteration with a scale of the caller's, within min_scale and max_scale; the tensor,
  /// of one element, is clamped into them.
  void update(double new_scale);
  void update(const at::Tensor& new_scale);

  bool is_enabled() const noexcept { return enabled_; }
  /// 1 when disabled. Waits for the device.
  double get_scale() const;
  /// Iterations in a row, up to the last update(), with a gradient that was not finite. Waits.
  int64_t skips_in_row() const;

  double get_growth_factor() const noexcept { return options_.growth_factor; }
  double get_backoff_factor() const noexcept { return options_.backoff_factor; }
  int64_t get_growth_interval() const noexcept { return options_.growth_interval; }
  void set_growth_factor(double factor);
  void set_backoff_factor(double factor);
  void set_growth_interval(int64_t interval);

  /// Waits for the device. Call it between update() and the next scale().
  GradScalerState state_dict() const;
  /// Throws InvalidOption for missing, unknown or impossible entries, and then changes nothing.
  void load_state_dict(const GradScalerState& state);

 private:
  enum class Stage { kReady, kUnscaled, kStepped };
  struct Iteration {
    Stage stage = Stage::kReady;
    at::Tensor found_inf;  ///< fp32 [] on the scaler's device, undefined without gradients
  };

  void set_options(const LossScaleOptions& options);
  void require_scaled(const char* verb) const;
  void end_iteration() { iterations_.clear(); }

  LossScaleOptions options_;
  bool enabled_;
  StepState state_;
  at::Tensor skips_in_row_;  ///< fp32 []
  bool was_used_ = false;    ///< scale() was called
  std::map<const Updatable*, Iteration> iterations_;
};

}  // namespace libtrain
