#pragma once

#include <string>

#include "libtrain/core/api.hpp"
#include "libtrain/facts/compute_capability.hpp"

namespace libtrain {

/// "compute capability 8.0". One that did not exist when the rules were written is named with the
/// known one it is judged as: "compute capability 13.0 (not known here, judged as 12.1)".
/// Source of the list: NVIDIA, CUDA GPU Compute Capability; Volta to Blackwell and two before.
LT_API std::string describe(ComputeCapability capability);

}  // namespace libtrain
