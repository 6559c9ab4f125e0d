#pragma once

#include "libtrain/core/api.hpp"
#include "libtrain/facts/machine.hpp"
#include "libtrain/plan/plan.hpp"
#include "libtrain/plan/request.hpp"

namespace libtrain {

/// The memory node a process is bound to, its CPUs and its memory: on CUDA the node of its GPU; on
/// the CPU each of several local ranks one node, where the ranks are a multiple of the nodes.
/// Unbound where the process has one node anyway, where it is alone on the CPU (its threads use all
/// nodes), and where the affinity mask or the cpuset's Mems_allowed leave that node out: binding
/// there fails (numactl issue 223, sglang pull request 26983).
///
/// Throws Unsupported for a node that this process may not use.
LT_API Decision<NumaChoice> choose_numa_node(const Request<NumaChoice>& asked,
                                             const DeviceChoice& device,
                                             const MachineFacts& machine);

}  // namespace libtrain
