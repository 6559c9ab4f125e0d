#pragma once

#include <c10/core/impl/DeviceGuardImplInterface.h>

namespace libtrain::sim {

/// Devices, streams and events of the simulated device, as c10 asks for them. A stream's work is
/// done when it is given, so a query always answers that it is, which the host from then on knows.
class Guard final : public c10::impl::DeviceGuardImplInterface {
 public:
  c10::DeviceType type() const override;
  c10::DeviceIndex deviceCount() const noexcept override;
  c10::Device getDevice() const override;
  void setDevice(c10::Device device) const override;
  void uncheckedSetDevice(c10::Device device) const noexcept override;
  c10::Device exchangeDevice(c10::Device device) const override;

  c10::Stream getStream(c10::Device device) const override;
  c10::Stream getDefaultStream(c10::Device device) const override;
  /// One of 32 a device, in turn, as CUDA's.
  c10::Stream getStreamFromGlobalPool(c10::Device device, bool high_priority) const override;
  c10::Stream getNewStream(c10::Device device, int priority) const override;
  c10::Stream exchangeStream(c10::Stream stream) const override;
  bool queryStream(const c10::Stream& stream) const override;
  void synchronizeStream(const c10::Stream& stream) const override;
  void synchronizeDevice(c10::DeviceIndex device) const override;

  void record(void** event, const c10::Stream& stream, c10::DeviceIndex device,
              c10::EventFlag flag) const override;
  void block(void* event, const c10::Stream& stream) const override;
  bool queryEvent(void* event) const override;
  void synchronizeEvent(void* event) const override;
  void destroyEvent(void* event, c10::DeviceIndex device) const noexcept override;

  void recordDataPtrOnStream(const c10::DataPtr& memory, const c10::Stream& stream) const override;
};

}  // namespace libtrain::sim
