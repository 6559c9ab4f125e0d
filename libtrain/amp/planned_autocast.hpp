#pragma once

#include "libtrain/amp/autocast.hpp"
#include "libtrain/runtime/runtime.hpp"

namespace libtrain {

/// The autocast a plan asks for: open it around forward passes, `Autocast
/// cast(planned_autocast(runtime))`. Off for fp32 and tf32.
LT_API AutocastState planned_autocast(const Runtime& runtime);

}  // namespace libtrain
