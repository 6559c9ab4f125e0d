#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <string>
#include <vector>

#include "libtrain/core/api.hpp"
#include "libtrain/facts/machine.hpp"
#include "libtrain/plan/plan.hpp"

namespace libtrain {

namespace sim {
struct Entry;
}

/// What a simulated device saw since the runtime was made.
struct SimulationReport {
  std::string machine;             ///< what was simulated: `NVIDIA H100 80GB HBM3`
  std::vector<std::string> races;  ///< uses of memory that nothing orders, one sentence each
  std::vector<std::string> waits;  ///< where the host waited for the device, and how often
  int64_t host_waits = 0;
  int64_t peak_bytes = 0;   ///< the most memory the device held at once
  int64_t limit_bytes = 0;  ///< what it has; 0 where the machine's facts do not say
};

/// GPUs of a recorded machine, simulated on host memory (docs/simulated-device.md): libtrain_sim,
/// loaded by name. One machine a process.
class LT_API Simulation {
 public:
  /// @throws Unsupported when the plan's device is the CPU, and where libtrain_sim or another
  /// number of devices is in the way.
  Simulation(const MachineFacts& machine, const Decision<DeviceChoice>& device);

  at::Device device() const noexcept { return device_; }
  SimulationReport report() const;
  /// How often the host has waited so far.
  int64_t host_waits() const;

 private:
  const sim::Entry* entry_;
  at::Device device_;
  std::string machine_;
  int64_t limit_bytes_ = 0;
};

}  // namespace libtrain
