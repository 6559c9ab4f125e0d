#pragma once

#include "libtrain/core/api.hpp"
#include "libtrain/facts/network.hpp"
#include "libtrain/probe/sources.hpp"

namespace libtrain {

/// Reads /sys/class/net, /sys/class/infiniband and /sys/module. An interface is up when the kernel
/// says so, or says "unknown" as it does for tunnels; a port is active in state 4.
LT_API NetworkFacts probe_network(const Sources& sources);

}  // namespace libtrain
