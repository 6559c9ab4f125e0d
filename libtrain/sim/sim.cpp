#include "libtrain/sim/sim.hpp"

#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <mutex>

#include "libtrain/core/require.hpp"
#include "libtrain/sim/attention.hpp"
#include "libtrain/sim/autocast.hpp"
#include "libtrain/sim/device.hpp"
#include "libtrain/sim/guard.hpp"
#include "libtrain/sim/hooks.hpp"
#include "libtrain/sim/memory.hpp"
#include "libtrain/sim/operators.hpp"
#include "libtrain/sim/pinned_memory.hpp"

namespace libtrain::sim {

void enable(int devices) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  require(devices >= 1 && devices <= kMaxDevices, "[sim.enable] devices={}, expected 1 to {}",
          devices, kMaxDevices);
  if (device_count() != 0) {
    require(devices == device_count(),
            "[sim.enable] devices={}, expected {}: the number cannot change in a process", devices,
            device_count());
    return;
  }
  require<Unsupported>(
      !at::isPrivateUse1HooksRegistered(),
      "[sim.enable] this process has another PrivateUse1 backend already ({}), expected none",
      c10::get_privateuse1_backend());
  set_device_count(devices);
  // LibTorch keeps these to the end of the process.
  c10::register_privateuse1_backend("sim");
  c10::impl::DeviceGuardImplRegistrar(kSim, new Guard);
  c10::SetAllocator(kSim, device_allocator());
  at::setHostAllocator(kSim, pinned_allocator());
  at::RegisterPrivateUse1HooksInterface(new Hooks);
  register_operators();
  register_autocast();
  register_attention();
}

c10::Device device(c10::DeviceIndex index) {
  require_device(index);
  return {kSim, index};
}

}  // namespace libtrain::sim
