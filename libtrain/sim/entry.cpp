#include "libtrain/sim/entry.hpp"

#include <algorithm>

#include "libtrain/core/api.hpp"
#include "libtrain/core/text.hpp"
#include "libtrain/sim/device.hpp"
#include "libtrain/sim/host_waits.hpp"
#include "libtrain/sim/memory.hpp"
#include "libtrain/sim/races.hpp"
#include "libtrain/sim/sim.hpp"

namespace libtrain::sim {
namespace {

void start() {
  clear_races();
  clear_host_waits();
  for (int device = 0; device < device_count(); ++device) {
    device_allocator()->resetPeakStats(static_cast<c10::DeviceIndex>(device));
  }
}

int64_t count_waits() {
  int64_t count = 0;
  for (const HostWait& wait : host_waits()) {
    count += wait.times;
  }
  return count;
}

int64_t peak_bytes(int device) {
  const auto stats = device_allocator()->getDeviceStats(static_cast<c10::DeviceIndex>(device));
  return stats.allocated_bytes[static_cast<size_t>(c10::CachingAllocator::StatType::AGGREGATE)]
      .peak;
}

Observed observed() {
  Observed seen;
  for (const Race& race : races()) {
    seen.races.push_back(race.text());
  }
  for (const HostWait& wait : host_waits()) {
    seen.waits.push_back(fill("{} on {}, {} times", wait.op, wait.where, wait.times));
  }
  seen.host_waits = count_waits();
  for (int device = 0; device < device_count(); ++device) {
    seen.peak_bytes = std::max(seen.peak_bytes, peak_bytes(device));
  }
  return seen;
}

}  // namespace
}  // namespace libtrain::sim

extern "C" LT_API const libtrain::sim::Entry* libtrain_sim_entry() {
  using namespace libtrain::sim;
  static const Entry entry{.enable = enable,
                           .set_memory_limit = set_memory_limit,
                           .start = start,
                           .observed = observed,
                           .host_waits = count_waits};
  return &entry;
}
