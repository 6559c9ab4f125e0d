#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "libtrain/core/api.hpp"
#include "libtrain/runtime/parameters.hpp"

namespace libtrain {

/// What step() did.
enum class StepOutcome {
  kApplied,
  kSkipped,      ///< a gradient was not finite: nothing moved
  kNoGradients,  ///< no parameter had a gradient: nothing moved
};

/// What is left in .grad after an update.
enum class GradientsAfter { kKept, kZeroed, kFreed };

/// The numbers of one update, known on the host.
struct HostUpdate {
  double lr_factor = 1.0;        ///< the schedule's: a group's lr is multiplied by it
  double grad_multiplier = 1.0;  ///< clip coefficient / loss scale
  GradientsAfter gradients = GradientsAfter::kKept;
};

/// The same numbers on a device, so that the update need not wait for them. All fp32 [].
struct DeviceUpdate {
  at::Tensor lr_factor;
  at::Tensor grad_divisor;  ///< loss scale / clip coefficient
  at::Tensor found_inf;     ///< 1: nothing moves
  GradientsAfter gradients = GradientsAfter::kKept;
};

/// Saved state by parameter name: "exp_avg.NAME" and the like, all on the CPU.
using OptimizerState = std::map<std::string, at::Tensor>;

/// Base of AdamW, Adam and SGD. A parameter whose gradient is undefined does not move and its state
/// stays as it is. State lies on the parameter's device.
class LT_API Optimizer {
 public:
  virtual ~Optimizer();
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;
  Optimizer(Optimizer&&) = delete;
  Optimizer& operator=(Optimizer&&) = delete;

  /// PyTorch's step: applies the gradients as they are. Unlike PyTorch it skips when one is not finite
  /// (set_skip_non_finite(false) leaves that check, one pass over the gradients, out).
  StepOutcome step();
  void set_skip_non_finite(bool skip) noexcept { skip_non_finite_ = skip; }

  /// Updates without any check: the caller has looked at the gradients.
  virtual void update(const HostUpdate& numbers) = 0;
  virtual void update(const DeviceUpdate& numbers) = 0;

  void zero_grad(bool set_to_none = true);

  /// Throws InvalidOption (with names) for a missing, unknown or misshapen entry, and then changes
  /// nothing.
  virtual OptimizerState state_dict() const = 0;
  virtual void load_state_dict(const OptimizerState& state) = 0;

  const Parameters& parameters() const noexcept { return parameters_; }

 protected:
  explicit Optimizer(Parameters parameters);

  Parameters parameters_;
  bool skip_non_finite_ = true;
};

}  // namespace libtrain
