#pragma once

#include <string_view>
#include <vector>

#include "libtrain/doctor/doctor.hpp"
#include "libtrain/facts/machine.hpp"

namespace libtrain {

/// Two A100 SXM under torchrun with InfiniBand: nothing is wrong.
MachineFacts healthy_gpu_machine();
/// One socket without a GPU: nothing is wrong.
MachineFacts healthy_cpu_machine();

/// A harm to a healthy machine, and what one check must say of it.
struct DoctorCase {
  std::string_view check;
  Verdict verdict;
  std::string_view words;  ///< part of the evidence
  MachineFacts (*machine)();
  void (*harm)(MachineFacts& machine);
};

/// At least one case for each check that can find something wrong.
std::vector<DoctorCase> doctor_cases();

}  // namespace libtrain
