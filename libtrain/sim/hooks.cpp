#include "libtrain/sim/hooks.hpp"

#include <ATen/native/Resize.h>

#include "libtrain/sim/device.hpp"
#include "libtrain/sim/generator.hpp"
#include "libtrain/sim/pinned_memory.hpp"

namespace libtrain::sim {

bool Hooks::isBuilt() const { return true; }

bool Hooks::isAvailable() const { return true; }

bool Hooks::hasPrimaryContext(c10::DeviceIndex device) const {
  return device >= 0 && device < device_count();
}

c10::DeviceIndex Hooks::deviceCount() const {
  return static_cast<c10::DeviceIndex>(device_count());
}

void Hooks::setCurrentDevice(c10::DeviceIndex device) const {
  require_device(device);
  set_current_device(device);
}

c10::DeviceIndex Hooks::getCurrentDevice() const { return current_device(); }

c10::DeviceIndex Hooks::exchangeDevice(c10::DeviceIndex device) const {
  const c10::DeviceIndex before = current_device();
  setCurrentDevice(device);
  return before;
}

c10::DeviceIndex Hooks::maybeExchangeDevice(c10::DeviceIndex device) const {
  return device < 0 ? current_device() : exchangeDevice(device);
}

const at::Generator& Hooks::getDefaultGenerator(c10::DeviceIndex device) const {
  return default_generator(device);
}

at::Generator Hooks::getNewGenerator(c10::DeviceIndex device) const {
  return new_generator(device);
}

bool Hooks::isPinnedPtr(const void* data) const { return is_pinned(data); }

at::Allocator* Hooks::getPinnedMemoryAllocator() const { return pinned_allocator(); }

void Hooks::resizePrivateUse1Bytes(const c10::Storage& storage, size_t bytes) const {
  at::native::resize_bytes_cpu(storage.unsafeGetStorageImpl(), bytes);
}

}  // namespace libtrain::sim
