#pragma once

#include "libtrain/core/api.hpp"
#include "libtrain/plan/options.hpp"

namespace libtrain {

/// Sets how memory is allocated for the rest of the process; there is no way back.
/// kGlibcThresholds: freed blocks of any size stay with the process instead of going back to the
/// kernel and being paged in again at the next step. kExpandableSegments: PyTorch's CUDA allocator
/// grows segments; must come before the first CUDA allocation.
LT_API void apply_allocator(AllocatorSetting setting);

}  // namespace libtrain
