#include "libtrain/sim/guard.hpp"

#include <array>
#include <atomic>

#include "libtrain/core/require.hpp"
#include "libtrain/sim/device.hpp"
#include "libtrain/sim/faults.hpp"
#include "libtrain/sim/host_waits.hpp"
#include "libtrain/sim/ledger.hpp"
#include "libtrain/sim/memory.hpp"

namespace libtrain::sim {
namespace {

constexpr int kPoolStreams = 32;

/// What an event knows since it was last recorded, and where that was.
struct Event {
  VectorClock clock;
  c10::Stream stream;
};

/// Stream numbers of a device: 0 the default, then the pool's, then those made anew.
struct StreamCounts {
  std::atomic<int64_t> pool = 0;
  std::atomic<int64_t> made = 0;
};

StreamCounts& counts_of(c10::Device device) {
  static std::array<StreamCounts, kMaxDevices> counts;
  require_device(device.index());
  return counts[device.index()];
}

c10::Stream stream_of(c10::Device device, c10::StreamId id) {
  return c10::Stream(c10::Stream::UNSAFE, device, id);
}

/// `sim` without an index is this thread's device.
c10::Device indexed(c10::Device device) {
  return {kSim, device.has_index() ? device.index() : current_device()};
}

}  // namespace

c10::DeviceType Guard::type() const { return kSim; }

c10::DeviceIndex Guard::deviceCount() const noexcept {
  return static_cast<c10::DeviceIndex>(device_count());
}

c10::Device Guard::getDevice() const { return {kSim, current_device()}; }

void Guard::setDevice(c10::Device device) const {
  require_device(device.index());
  set_current_device(device.index());
}

void Guard::uncheckedSetDevice(c10::Device device) const noexcept {
  set_current_device(device.index());
}

c10::Device Guard::exchangeDevice(c10::Device device) const {
  const c10::Device before = getDevice();
  setDevice(device);
  return before;
}

c10::Stream Guard::getStream(c10::Device device) const {
  return current_stream(indexed(device).index());
}

c10::Stream Guard::getDefaultStream(c10::Device device) const {
  return stream_of(indexed(device), 0);
}

c10::Stream Guard::getStreamFromGlobalPool(c10::Device device, bool) const {
  const c10::Device on = indexed(device);
  return stream_of(on, 1 + counts_of(on).pool++ % kPoolStreams);
}

c10::Stream Guard::getNewStream(c10::Device device, int) const {
  const c10::Device on = indexed(device);
  return stream_of(on, 1 + kPoolStreams + counts_of(on).made++);
}

c10::Stream Guard::exchangeStream(c10::Stream stream) const {
  const c10::Stream before = current_stream(stream.device_index());
  set_current_stream(stream);
  return before;
}

bool Guard::queryStream(const c10::Stream& stream) const {
  Ledger::get().host_knows(stream);
  return true;
}

void Guard::synchronizeStream(const c10::Stream& stream) const {
  require_not_lost("stream synchronize", stream.device_index());
  count_host_wait("stream synchronize", stream);
  Ledger::get().host_knows(stream);
}

void Guard::synchronizeDevice(c10::DeviceIndex device) const {
  require_device(device);
  require_not_lost("device synchronize", device);
  count_host_wait("device synchronize", device);
  Ledger::get().host_knows_all_of(device);
}

void Guard::record(void** event, const c10::Stream& stream, c10::DeviceIndex device,
                   c10::EventFlag) const {
  require<DeviceError>(device == -1 || device == stream.device_index(),
                       "[sim.record] an event of sim:{} is recorded on a stream of sim:{}, "
                       "expected one of the same device",
                       static_cast<int>(device), static_cast<int>(stream.device_index()));
  if (!*event) {
    *event = new Event{{}, stream};
  }
  *static_cast<Event*>(*event) = {Ledger::get().record(stream), stream};
}

void Guard::block(void* event, const c10::Stream& stream) const {
  if (event) {
    Ledger::get().block(static_cast<Event*>(event)->clock, stream);
  }
}

bool Guard::queryEvent(void* event) const {
  if (event) {
    Ledger::get().host_knows(static_cast<Event*>(event)->clock);
  }
  return true;
}

void Guard::synchronizeEvent(void* event) const {
  if (event) {
    require_not_lost("event synchronize", static_cast<Event*>(event)->stream.device_index());
    count_host_wait("event synchronize", static_cast<Event*>(event)->stream);
    Ledger::get().host_knows(static_cast<Event*>(event)->clock);
  }
}

void Guard::destroyEvent(void* event, c10::DeviceIndex) const noexcept {
  delete static_cast<Event*>(event);
}

void Guard::recordDataPtrOnStream(const c10::DataPtr& memory, const c10::Stream& stream) const {
  device_allocator()->recordStream(memory, stream);
}

}  // namespace libtrain::sim
