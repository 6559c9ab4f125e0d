#pragma once

#include "libtrain/core/api.hpp"
#include "libtrain/plan/plan.hpp"

namespace libtrain {

/// What the plan in force says of work on the CPU to functions that no Runtime is passed to.
/// Without a plan for the CPU it is what such a plan says where nothing is asked.
struct PlannedForms {
  AttentionKind attention = AttentionKind::kShort;
  OptimizerForm optimizer = OptimizerForm::kOwnKernel;

  friend bool operator==(const PlannedForms&, const PlannedForms&) = default;
};

/// Of this process; apply_settings() sets them. Any thread may read while one sets.
LT_API PlannedForms planned_forms() noexcept;
LT_API void set_planned_forms(PlannedForms forms) noexcept;

}  // namespace libtrain
