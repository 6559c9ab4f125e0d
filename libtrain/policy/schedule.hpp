#pragma once

#include <cstdint>
#include <optional>

#include "libtrain/core/api.hpp"

namespace libtrain {

enum class ScheduleKind { kConstant, kLinear, kCosine, kInverseSqrt, kOneCycle };

/// How the learning rate moves: factor() times the rate of the optimizer. Make one with the
/// functions below, which check the values; fields that a kind does not name have no meaning for
/// it.
struct Schedule {
  ScheduleKind kind = ScheduleKind::kConstant;
  int64_t warmup_steps = 0;
  int64_t total_steps = 0;
  double cycles = 0.5;            ///< cosine
  double min_ratio = 0.0;         ///< cosine
  int64_t timescale = 1;          ///< inverse square root
  double rising_fraction = 0.3;   ///< one cycle
  double div_factor = 25.0;       ///< one cycle
  double final_div_factor = 1e4;  ///< one cycle

  friend bool operator==(const Schedule&, const Schedule&) = default;
};

/// All throw InvalidOption for a value outside what they name. The first four equal the functions
/// get_*_schedule_with_warmup of Hugging Face transformers: with a warm-up the factor rises from 0
/// at step 0 by 1 / warmup_steps a step, so the first update moves nothing.

/// 1 after the warm-up.
LT_API Schedule constant(int64_t warmup_steps = 0);
/// Falls in a line to 0 at `total_steps` (>= 1, and no less than the warm-up).
LT_API Schedule linear_warmup(int64_t warmup_steps, int64_t total_steps);
/// Half a cosine (`cycles` 0.5; 1 comes back up, and so on) from 1 to `min_ratio` (0 to 1) at
/// `total_steps`.
LT_API Schedule cosine(int64_t warmup_steps, int64_t total_steps, double cycles = 0.5,
                       double min_ratio = 0.0);
/// sqrt(timescale / (timescale + steps since the warm-up)). The timescale (>= 1) is by default the
/// warm-up, or 10000 without one.
LT_API Schedule inverse_sqrt(int64_t warmup_steps, std::optional<int64_t> timescale = std::nullopt);
/// torch.optim.lr_scheduler.OneCycleLR with its cosine annealing and the optimizer's rate as
/// max_lr: from 1 / div_factor to 1 in `rising_fraction` (0 to 1) of the steps, then down to 1 /
/// (div_factor * final_div_factor). The momentum is left alone.
LT_API Schedule one_cycle(int64_t total_steps, double rising_fraction = 0.3,
                          double div_factor = 25.0, double final_div_factor = 1e4);

/// Factor of the update that follows `applied_steps` (>= 0) applied ones, a skipped step being
/// none. Past `total_steps` the last value stays: there transformers' cosine would rise again and
/// OneCycleLR throws.
LT_API double factor(const Schedule& schedule, int64_t applied_steps);

}  // namespace libtrain
