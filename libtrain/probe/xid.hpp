#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "libtrain/core/api.hpp"

namespace libtrain {

/// The NVIDIA driver's errors in the kernel's log: bus id ("0000:17:00") → its Xid numbers, each
/// once, in the order of their first lines. NVIDIA, "XID Errors"; both forms, "Xid
/// (PCI:0000:17:00): 79, ..." and "Xid (0000:17:00): 79, ...". The NVSwitch's SXid lines are
/// others.
LT_API std::map<std::string, std::vector<std::string>> parse_xids(std::string_view log);

}  // namespace libtrain
