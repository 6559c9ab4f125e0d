#pragma once

#include <string>

#include "libtrain/core/api.hpp"
#include "libtrain/facts/machine.hpp"
#include "libtrain/plan/plan.hpp"
#include "libtrain/plan/request.hpp"

namespace libtrain {

/// The CUDA device of this local rank when the build has CUDA, the driver works and is of the
/// build's CUDA major or newer, and a compiled target serves the GPU (serving_target()); else the
/// CPU, and the reason names what is missing. All ranks of a machine decide alike: fewer visible
/// GPUs than processes, none of them set apart by CUDA_VISIBLE_DEVICES, means CPU for all.
///
/// Driver rule: NVIDIA, CUDA Compatibility, "Minor Version Compatibility".
/// Throws InvalidOption for a name that is no device and for an index that is not visible,
/// Unsupported when CUDA is asked for and cannot be used.
LT_API Decision<DeviceChoice> choose_device(const Request<std::string>& asked,
                                            const MachineFacts& machine);

}  // namespace libtrain
