#pragma once

#include "libtrain/amp/autocast.hpp"
#include "libtrain/plan/plan.hpp"

namespace libtrain {

/// The autocast a plan asks for: open it around forward passes, `Autocast
/// cast(planned_autocast(plan))`. Off for fp32 and tf32.
LT_API AutocastState planned_autocast(const Plan& plan);

}  // namespace libtrain
