#pragma once

#include <vector>

#include "libtrain/core/api.hpp"
#include "libtrain/facts/machine.hpp"
#include "libtrain/plan/make_plan.hpp"
#include "libtrain/plan/request.hpp"

namespace libtrain {

/// The interfaces that NCCL and Gloo can take: those that are up and not known to lack an address
/// (NCCL, src/misc/socket.cc, findInterfaces: IPv4 and IPv6 alone). Nothing where none are known.
LT_API std::optional<std::vector<std::string>> usable_interfaces(const NetworkFacts& network);

/// The variables of NCCL and Gloo that facts speak for: none of one process;
/// - NCCL_SOCKET_IFNAME and GLOO_SOCKET_IFNAME=lo: all processes are on this machine, and it has no
///   other interface that is up and has an address (NCCL leaves lo out unless it is named);
/// - NCCL_IB_HCA=^=...: InfiniBand devices that are bonds, beside others, for jobs of several
///   machines: a bond carries the machine's ordinary traffic.
/// Source: NCCL, Environment Variables. Nothing is ever switched off: NCCL_P2P_DISABLE disables
/// traffic between GPUs, NVLink included, and forces nothing.
LT_API std::vector<ProcessVariable> nccl_evidence(const MachineFacts& machine);

/// by_evidence where there is any, unchanged elsewhere.
LT_API Decision<NcclSettings> choose_nccl_settings(const Request<NcclSettings>& asked,
                                                   const MachineFacts& machine);

}  // namespace libtrain
