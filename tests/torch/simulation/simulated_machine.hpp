#pragma once

#include <string>

#include "libtrain/facts/machine_file.hpp"
#include "libtrain/runtime/runtime.hpp"

namespace libtrain::testing_support {

/// A recorded machine with its first GPU alone: a process has one number of simulated devices.
inline MachineFacts recorded_machine(const std::string& name) {
  MachineFacts machine = read_machine_facts(LIBTRAIN_TEST_DATA "/machines/" + name + ".facts");
  if (machine.gpus.size() > 1) {
    machine.gpus.resize(1);
  }
  machine.launch = {};
  return machine;
}

inline Runtime simulated_runtime(const std::string& name, PlanOptions options = {}) {
  options.seed = 3;
  return Runtime::simulated(options, recorded_machine(name));
}

}  // namespace libtrain::testing_support
