#pragma once

#include <map>
#include <string>

#include "libtrain/core/api.hpp"
#include "libtrain/facts/launch.hpp"

namespace libtrain {

/// How the process was started, from its environment alone: torchrun (or anything that sets RANK
/// and WORLD_SIZE as it does), Open MPI, a Slurm step, in this order: the innermost launcher wins.
/// Numbers that are none, or that contradict each other, are named in `problem`.
LT_API LaunchFacts launch_from_environment(const std::map<std::string, std::string>& environment);

}  // namespace libtrain
