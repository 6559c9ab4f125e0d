#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>

#include "libtrain/probe/visible_devices.hpp"

namespace {

libtrain::NvmlDevice device(int index, const std::string& uuid, bool instance, bool reachable) {
  libtrain::NvmlDevice out;
  out.facts.nvml_index = index;
  out.facts.uuid = uuid;
  out.facts.mig_instance = instance;
  out.reachable = reachable;
  if (instance) {
    out.parent_uuid = "GPU-3c";
    out.gpu_instance = 1;
    out.compute_instance = uuid.back() - '0';
  }
  return out;
}

}  // namespace

/// Any text selects devices that are there, each once, and one MIG instance at most.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::vector<libtrain::NvmlDevice> devices = {
      device(0, "GPU-1a", false, true), device(1, "GPU-1b", false, false),
      device(2, "GPU-2", false, true), device(3, "MIG-0", true, true),
      device(3, "MIG-1", true, true)};
  const std::string text(reinterpret_cast<const char*>(data), size);
  const libtrain::VisibleDevices visible = libtrain::resolve_visible_devices(text, devices);
  const std::set<size_t> positions(visible.order.begin(), visible.order.end());
  bool right = positions.size() == visible.order.size();
  for (const size_t position : visible.order) {
    right = right && position < devices.size() && devices[position].reachable &&
            (visible.order.size() == 1 || devices[position].facts.mig_instance == false);
  }
  if (!right) {
    std::abort();
  }
  return 0;
}
