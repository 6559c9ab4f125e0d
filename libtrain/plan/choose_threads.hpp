#pragma once

#include "libtrain/core/api.hpp"
#include "libtrain/facts/cpu.hpp"
#include "libtrain/facts/launch.hpp"
#include "libtrain/plan/request.hpp"

namespace libtrain {

/// The smallest of: physical cores in the affinity mask, CPUs of the cpuset, the cgroup quota
/// rounded up, performance cores of a hybrid CPU (a parallel loop ends with its slowest thread);
/// divided by the processes on this machine; at least 1. OMP_NUM_THREADS, where set, is respected.
/// A second thread on the same core shares its multipliers: it adds nothing to matrix products.
///
/// Throws InvalidOption for a value outside 1 to kMaxThreads.
LT_API Decision<int> choose_threads(const Request<int>& asked, const CpuFacts& cpu,
                                    const LaunchFacts& launch);

}  // namespace libtrain
