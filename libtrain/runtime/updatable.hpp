#pragma once

#include <ATen/core/Tensor.h>

#include "libtrain/core/api.hpp"
#include "libtrain/runtime/gradient_forms.hpp"
#include "libtrain/runtime/parameters.hpp"

namespace libtrain {

/// What a step did.
enum class StepOutcome {
  kApplied,
  kSkipped,          ///< a gradient was not finite: nothing moved
  kNoGradients,      ///< no parameter had a gradient: nothing moved
  kDecidedOnDevice,  ///< applied or skipped by the device, which the step did not wait for
};

/// What is left in .grad after an update, whether it moved anything or not.
enum class GradientsAfter {
  kKept,    ///< defined, but whether grad_multiplier was applied to it is not
  kZeroed,  ///< zeros in the same memory
  kFreed,   ///< undefined
};

/// The numbers of one update, known on the host.
struct HostUpdate {
  double lr_factor = 1.0;        ///< the schedule's: a group's lr is multiplied by it
  double grad_multiplier = 1.0;  ///< clip coefficient / loss scale
  GradientsAfter gradients = GradientsAfter::kKept;
};

/// The same numbers on a device, so that the update need not wait for them. All fp32 []; an
/// undefined one has no effect.
struct DeviceUpdate {
  at::Tensor lr_factor{};
  at::Tensor grad_divisor{};  ///< loss scale / clip coefficient
  at::Tensor found_inf{};     ///< 1: nothing moves; else 0
  GradientsAfter gradients = GradientsAfter::kKept;
};

/// What GradScaler and Trainer ask of an optimizer.
class LT_API Updatable {
 public:
  virtual ~Updatable() = default;

  virtual const Parameters& parameters() const = 0;
  /// Applies the gradients as they are.
  virtual StepOutcome step() = 0;
  /// Updates without any check: the caller has looked at the gradients.
  virtual void update(const HostUpdate& numbers) = 0;
  /// Never waits for the device.
  virtual void update(const DeviceUpdate& numbers) = 0;
  /// What update(HostUpdate) takes besides dense gradients of the parameter's dtype.
  virtual GradientForms gradient_forms() const { return {}; }

 protected:
  Updatable() = default;
  Updatable(const Updatable&) = default;
  Updatable& operator=(const Updatable&) = default;
};

}  // namespace libtrain
