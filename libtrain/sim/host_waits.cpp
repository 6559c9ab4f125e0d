#include "libtrain/sim/host_waits.hpp"

#include <atomic>
#include <mutex>

#include "libtrain/core/require.hpp"

namespace libtrain::sim {
namespace {

std::mutex x_mutex;
std::vector<HostWait> x_waits;
std::atomic<int> x_forbidden = 0;

void count(std::string_view op, const std::string& where) {
  require<DeviceError>(x_forbidden == 0,
                       "[sim.host_wait] {} makes the host wait for {} within NoHostWait; keep the "
                       "value on the device",
                       op, where);
  const std::lock_guard lock(x_mutex);
  for (HostWait& known : x_waits) {
    if (known.op == op && known.where == where) {
      ++known.times;
      return;
    }
  }
  x_waits.push_back({std::string(op), where});
}

}  // namespace

std::vector<HostWait> host_waits() {
  const std::lock_guard lock(x_mutex);
  return x_waits;
}

void clear_host_waits() {
  const std::lock_guard lock(x_mutex);
  x_waits.clear();
}

NoHostWait::NoHostWait() { ++x_forbidden; }

NoHostWait::~NoHostWait() { --x_forbidden; }

void count_host_wait(std::string_view op, const c10::Stream& stream) {
  count(op, fill("stream {} of sim:{}", stream.id(), static_cast<int>(stream.device_index())));
}

void count_host_wait(std::string_view op, c10::DeviceIndex device) {
  count(op, fill("sim:{}", static_cast<int>(device)));
}

}  // namespace libtrain::sim
