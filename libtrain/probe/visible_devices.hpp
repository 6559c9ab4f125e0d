#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libtrain/core/api.hpp"
#include "libtrain/probe/nvml.hpp"

namespace libtrain {

struct VisibleDevices {
  std::vector<size_t> order;         ///< positions among the devices, by CUDA index
  std::optional<std::string> ended;  ///< why CUDA reads the list no further; empty if it reads all
};

/// What CUDA makes of CUDA_VISIBLE_DEVICES (empty: not set), given the devices in its own order;
/// those it cannot reach do not count. CUDA C++ Programming Guide, "CUDA Environment Variables",
/// and for what it leaves out the behaviour torch.cuda copies from the driver:
/// - the first entry decides the kind: indices, "GPU-" ids, or "MIG-" ids; the order is kept;
/// - an index is read up to its first character that is no digit ("1gpu2" is 1), an id may be cut
/// short
///   while it names one device;
/// - the first entry that names none, "-1" included, ends the list; one device named twice empties
/// it;
/// - an index or id of a GPU cut up by MIG stands for its instances;
/// - a process gets one MIG instance, the first, and then no other device (MIG User Guide, "Device
///   Enumeration").
LT_API VisibleDevices resolve_visible_devices(const std::optional<std::string>& variable,
                                              std::span<const NvmlDevice> devices);

/// Whether the list means the same in every order of the devices: it holds ids.
LT_API bool names_devices_by_id(const std::optional<std::string>& variable);

}  // namespace libtrain
