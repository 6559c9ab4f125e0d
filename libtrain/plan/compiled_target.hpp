#pragma once

#include <optional>
#include <span>
#include <string>

#include "libtrain/core/api.hpp"
#include "libtrain/facts/compute_capability.hpp"
#include "libtrain/plan/version.hpp"

namespace libtrain {

/// Which of a build's compiled `targets` ("sm_80", "compute_90", "9.0a", "8.6+PTX") runs on
/// `device`: its own machine code, else the newest older machine code, else the newest PTX. Nothing
/// when the device cannot run the build. Targets that cannot be read serve nothing.
///
/// Rules (CUDA C++ Programming Guide, "Compute Capabilities" and "Application Compatibility"; the
/// exceptions as in torch/cuda/__init__.py of 2.15, DEVICE_REQUIREMENT):
/// - machine code runs on its own major with the same or a higher minor; PTX on anything newer;
/// - suffix `a`: that capability alone; suffix `f`: the same major, same or higher minor;
/// - integrated GPUs (5.3, 6.2, 7.2, 8.7) and discrete ones do not share machine code, but for 7.2
///   and 8.7 with a build by CUDA 13.2 or newer;
/// - 10.1 is the name 11.0 had in CUDA 12.7 to 12.9.
LT_API std::optional<std::string> serving_target(std::span<const std::string> targets,
                                                 ComputeCapability device,
                                                 std::optional<Version> cuda);

}  // namespace libtrain
