#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "libtrain/core/api.hpp"
#include "libtrain/optim/optimizer.hpp"
#include "libtrain/policy/loss_scale.hpp"
#include "libtrain/policy/schedule.hpp"
#include "libtrain/policy/skip_counter.hpp"
#include "libtrain/runtime/batch.hpp"
#include "libtrain/runtime/runtime.hpp"
#include "libtrain/runtime/step_state.hpp"
#include "libtrain/train/lr_table.hpp"
#include "libtrain/train/report.hpp"
#include "libtrain/train/report_ring.hpp"

namespace libtrain {

/// The mean loss over the weight of a (micro-)batch: a floating-point scalar that requires a
/// gradient.
using LossFunction = std::function<at::Tensor(const Batch& part)>;

struct TrainerOptions {
  std::optional<double>
      clip_norm{};  ///< largest L2 norm of all gradients together; unset: no clipping
  Schedule schedule = constant();
  LossScaleOptions loss_scale{};              ///< fp16 only
  int64_t max_skips_in_row = kMaxSkipsInRow;  ///< then step() throws
  bool values_on_device = false;              ///< on the CPU too: how the device's half is tested
};

/// Takes training steps as the plan says. After a step every gradient is undefined, as after
/// PyTorch's zero_grad(). A step whose gradients are not finite moves nothing: not the weights, not
/// the optimizer's state, not the schedule.
class LT_API Trainer {
 public:
  /// Both must outlive the trainer. Throws InvalidOption for options out of range.
  Trainer(const Runtime& runtime, Optimizer& optimizer, TrainerOptions options = {});

  /// One update from one global batch of this rank: micro-batches, each forward under autocast and
  /// weighed by its share of the batch's weight, backward, norm, clip, update, schedule. An
  /// exception from `loss` leaves weights and state as they were and no gradients. Throws
  /// InvalidOption for a loss that is no differentiable scalar, and Error after max_skips_in_row
  /// skipped steps, naming a parameter whose gradient was not finite, and OutOfMemory where the
  /// device's memory does not suffice: then too nothing has moved.
  StepReport step(const Batch& batch, const LossFunction& loss);

  /// The values of one of the last steps; waits for the device.
  StepValues values(const StepReport& report);

  /// Calls of step() so far, and updates that moved the weights (waits for the device).
  int64_t steps() const noexcept { return step_; }
  int64_t applied_steps();

 private:
  StepReport take_step(const Batch& batch, const LossFunction& loss);
  GradientForms gradient_forms() const;
  at::Tensor forward(const Batch& part, const LossFunction& loss) const;
  void backward(const at::Tensor& loss, double share);

  StepValues finish_on_host();
  void finish_on_device();
  void refuse_endless_skipping(int64_t skipped_in_row) const;

  const Runtime& runtime_;
  Optimizer& optimizer_;
  TrainerOptions options_;
  bool scaling_;
  StepState state_;
  int64_t step_ = 0;

  double host_loss_ = 0.0;
  SkipCounter host_skips_;
  at::Tensor device_loss_;     ///< fp32 []
  at::Tensor device_skipped_;  ///< fp32 []
  LrTable lr_table_;
  ReportRing ring_;
};

}  // namespace libtrain
