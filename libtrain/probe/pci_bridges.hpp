#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libtrain/core/api.hpp"
#include "libtrain/probe/sources.hpp"

namespace libtrain {

/// Bus ids of the bridges above a PCI device, the host's first; nothing where /sys does not tell.
LT_API std::optional<std::vector<std::string>> pci_bridges(const Sources& sources,
                                                           std::string_view bus_id);

/// Those of the bridges that send copies between the devices below them up to the host (PCI Access
/// Control Services); nothing when one cannot be read: the kernel shows these registers to root
/// alone.
LT_API std::optional<std::vector<std::string>> acs_bridges(const Sources& sources,
                                                           const std::vector<std::string>& bridges);

/// Whether the configuration space of a bridge has P2P request or completion redirect, or egress
/// control, switched on; nothing when it ends before the extended capabilities. PCI Express Base
/// Specification, "ACS Extended Capability"; Linux, pci_bridge_has_acs_redir().
LT_API std::optional<bool> parse_acs_redirect(std::string_view configuration);

}  // namespace libtrain
