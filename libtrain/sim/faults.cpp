#include "libtrain/sim/faults.hpp"

#include <array>
#include <atomic>
#include <mutex>
#include <string>

#include "libtrain/core/require.hpp"
#include "libtrain/sim/device.hpp"

namespace libtrain::sim {
namespace {

struct Plan {
  FaultPoint point = FaultPoint::kOperator;
  Fault fault = Fault::kDeviceError;
  int64_t left = 0;  ///< how many are still to come, with the failing one; 0 where none is planned
  std::string lost;  ///< what broke the device
};

std::mutex x_mutex;
std::array<Plan, kMaxDevices> x_plans;
std::atomic<bool> x_any = false;

void throw_if_lost(const Plan& plan, std::string_view what, c10::DeviceIndex device) {
  require<DeviceError>(plan.lost.empty(),
                       "[sim.fault] {} on sim:{} failed: the device is lost since {}; end the "
                       "process, or call clear_faults in a test",
                       what, static_cast<int>(device), plan.lost);
}

}  // namespace

void fail_at(FaultPoint point, int64_t n, Fault fault, c10::DeviceIndex device) {
  require_device(device);
  require(n >= 1, "[sim.fail_at] n={}, expected 1 or more", n);
  require(
      point != FaultPoint::kAllocation || fault != Fault::kNotFinite,
      "[sim.fail_at] an allocation has no values to become NaN, expected an operator or a copy");
  const std::lock_guard lock(x_mutex);
  x_plans[device] = {point, fault, n, {}};
  x_any = true;
}

void clear_faults() {
  const std::lock_guard lock(x_mutex);
  x_plans = {};
  x_any = false;
}

bool fault_due(FaultPoint point, std::string_view what, c10::DeviceIndex device) {
  if (!x_any) {
    return false;
  }
  const std::lock_guard lock(x_mutex);
  Plan& plan = x_plans[device];
  throw_if_lost(plan, what, device);
  if (plan.left == 0 || plan.point != point || --plan.left > 0) {
    return false;
  }
  if (plan.fault == Fault::kDeviceError) {
    plan.lost = what;
    throw_if_lost(plan, what, device);
  }
  TORCH_CHECK_WITH(OutOfMemoryError, plan.fault != Fault::kOutOfMemory,
                   fill("[sim.fault] {} on sim:{} is out of memory, as fail_at asked for", what,
                        static_cast<int>(device)));
  return true;
}

void require_not_lost(std::string_view what, c10::DeviceIndex device) {
  if (x_any) {
    const std::lock_guard lock(x_mutex);
    throw_if_lost(x_plans[device], what, device);
  }
}

}  // namespace libtrain::sim
