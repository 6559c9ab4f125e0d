#include "libtrain/sim/device.hpp"

#include <array>
#include <atomic>

#include "libtrain/core/require.hpp"

namespace libtrain::sim {
namespace {

std::atomic<int> x_device_count = 0;
thread_local c10::DeviceIndex x_device = 0;
thread_local std::array<c10::StreamId, kMaxDevices> x_streams{};

}  // namespace

int device_count() noexcept { return x_device_count; }

void set_device_count(int devices) { x_device_count = devices; }

void require_device(c10::DeviceIndex device) {
  require(device >= 0 && device < device_count(),
          "[sim.device] sim:{} does not exist, expected sim:0 to sim:{}", static_cast<int>(device),
          device_count() - 1);
}

c10::DeviceIndex current_device() noexcept { return x_device; }

void set_current_device(c10::DeviceIndex device) noexcept { x_device = device; }

c10::Stream current_stream(c10::DeviceIndex device) {
  require_device(device);
  return c10::Stream(c10::Stream::UNSAFE, c10::Device(kSim, device), x_streams[device]);
}

void set_current_stream(const c10::Stream& stream) {
  require_device(stream.device_index());
  x_streams[stream.device_index()] = stream.id();
}

}  // namespace libtrain::sim
