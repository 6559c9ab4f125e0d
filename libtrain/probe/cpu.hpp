#pragma once

#include "libtrain/core/api.hpp"
#include "libtrain/facts/cpu.hpp"
#include "libtrain/probe/cgroup.hpp"
#include "libtrain/probe/sources.hpp"

namespace libtrain {

LT_API CpuFacts probe_cpu(const Sources& sources, const CgroupLimits& limits);

}  // namespace libtrain
