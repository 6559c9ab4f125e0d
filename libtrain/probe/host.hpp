#pragma once

#include "libtrain/core/api.hpp"
#include "libtrain/facts/host.hpp"
#include "libtrain/probe/cgroup.hpp"
#include "libtrain/probe/sources.hpp"

namespace libtrain {

LT_API HostFacts probe_host(const Sources& sources, const CgroupLimits& limits);

}  // namespace libtrain
