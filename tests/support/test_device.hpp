#pragma once

#include <ATen/core/Tensor.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <exception>
#include <string>

#include "libtrain/plan/make_plan.hpp"
#include "libtrain/runtime/runtime.hpp"
#include "libtrain/runtime/updatable.hpp"
#include "tests/torch/simulation/simulated_machine.hpp"

// One suite runs on several devices, one a process: `cpu`, `sim` or `cuda`, as the environment
// variable LIBTRAIN_TEST_DEVICE says. On `sim` a test in which something raced fails.

namespace libtrain::testing_support {

inline std::string test_device_name() {
  const char* name = std::getenv("LIBTRAIN_TEST_DEVICE");
  return name == nullptr ? "cpu" : name;
}

inline bool on_cpu() { return test_device_name() == "cpu"; }
inline bool on_simulated_device() { return test_device_name() == "sim"; }

/// The machine of simulated processes.
inline MachineFacts simulated_h100() { return recorded_machine("h100-slurm-one-gpu"); }

/// Forgets what was seen on the device so far.
inline Simulation new_simulation() {
  const MachineFacts machine = simulated_h100();
  return {machine, make_plan({}, machine).device};
}

inline const Simulation& simulation() {
  static const Simulation simulation = new_simulation();
  return simulation;
}

inline at::Device test_device() {
  if (on_simulated_device()) {
    return simulation().device();
  }
  return on_cpu() ? at::Device(at::kCPU) : at::Device(test_device_name() + ":0");
}

inline at::TensorOptions on_device(at::ScalarType dtype = at::kFloat) {
  return at::TensorOptions(dtype).device(test_device());
}

/// What a step reports here that has this outcome on the CPU: a device keeps it to itself.
inline StepOutcome outcome(StepOutcome on_the_cpu) {
  return on_cpu() ? on_the_cpu : StepOutcome::kDecidedOnDevice;
}

/// Fails the test for every race so far. A new simulated runtime forgets them.
inline void expect_no_races() {
  if (on_simulated_device()) {
    for (const std::string& race : simulation().report().races) {
      ADD_FAILURE() << race;
    }
  }
}

/// On the device of this process; nothing else is known of the machine of the CPU.
inline Runtime runtime_on_device(const PlanOptions& options) {
  if (on_simulated_device()) {
    expect_no_races();
    return Runtime::simulated(options, simulated_h100());
  }
  return on_cpu() ? Runtime(options, MachineFacts{}) : Runtime(options);
}

/// Expects that the host does not wait for a simulated device until this ends without an exception.
class NoHostWait {
 public:
  NoHostWait() : before_(waits()) {}
  ~NoHostWait() {
    if (std::uncaught_exceptions() == 0 && waits() != before_) {
      ADD_FAILURE() << "the host waited: " << simulation().report().waits.back();
    }
  }
  NoHostWait(const NoHostWait&) = delete;
  NoHostWait& operator=(const NoHostWait&) = delete;

 private:
  static int64_t waits() { return on_simulated_device() ? simulation().host_waits() : 0; }

  int64_t before_;
};

/// Skips the test if `condition` holds, and says whether it does.
inline bool skip_if(bool condition, const std::string& reason) {
  const auto skip = [&] { GTEST_SKIP() << reason; };
  if (condition) {
    skip();
  }
  return condition;
}

/// `if (needs_cpu("its kernels")) { return; }` leaves a test to the CPU.
inline bool needs_cpu(const std::string& what) {
  return skip_if(!on_cpu(), "about the CPU: " + what);
}
inline bool needs_sparse_tensors() {
  return skip_if(on_simulated_device(), "the simulated device has no sparse tensors");
}

namespace test_device_details {

struct RaceListener : testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo&) override {
    if (on_simulated_device()) {
      new_simulation();
    }
  }
  void OnTestEnd(const testing::TestInfo&) override { expect_no_races(); }
};

// The list of listeners owns it.
inline const bool kListening = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new RaceListener);
  return true;
}();

}  // namespace test_device_details
}  // namespace libtrain::testing_support
