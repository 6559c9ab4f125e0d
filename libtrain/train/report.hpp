#pragma once

#include <cstdint>
#include <optional>

#include "libtrain/core/api.hpp"

namespace libtrain {

/// What a training step measured.
struct StepValues {
  int64_t step = 0;            ///< number of the call of step(), from 0
  bool applied = false;        ///< the weights moved
  double loss = 0.0;           ///< mean over the window's weight
  double grad_norm = 0.0;      ///< L2 norm of the unscaled gradients, before clipping
  double lr_factor = 0.0;      ///< the schedule's factor for this step's update
  double loss_scale = 1.0;     ///< what this step's loss was multiplied by
  int64_t skipped_in_row = 0;  ///< steps with non-finite gradients up to and including this one
};

/// What step() returns at once: what the host knows, and the newest values that need no wait.
struct StepReport {
  int64_t step = 0;
  int64_t samples = 0;
  double weight = 0.0;                 ///< samples or tokens the loss is a mean over
  std::optional<StepValues> latest{};  ///< this step's on the CPU; some steps old on a device
};

}  // namespace libtrain
