#pragma once

#include <c10/core/Device.h>
#include <c10/core/Stream.h>

namespace libtrain::sim {

inline constexpr int kMaxDevices = 8;
inline constexpr c10::DeviceType kSim = c10::DeviceType::PrivateUse1;

/// How many devices `enable` made; 0 before.
int device_count() noexcept;
void set_device_count(int devices);

/// @throws InvalidOption unless this device exists.
void require_device(c10::DeviceIndex device);

/// This thread's device, and its stream on a device.
c10::DeviceIndex current_device() noexcept;
void set_current_device(c10::DeviceIndex device) noexcept;
c10::Stream current_stream(c10::DeviceIndex device);
void set_current_stream(const c10::Stream& stream);

}  // namespace libtrain::sim
