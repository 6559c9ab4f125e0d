#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>

#include "libtrain/core/error.hpp"
#include "libtrain/core/text.hpp"
#include "libtrain/doctor/doctor.hpp"
#include "libtrain/plan/environment.hpp"
#include "libtrain/probe/launch.hpp"

/// The input is an environment, NAME=value a line. A process's place in it is sound or its problem
/// is told; its options are read or refused; the doctor reads its settings.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::map<std::string, std::string> environment;
  for (const std::string_view line :
       libtrain::split({reinterpret_cast<const char*>(data), size}, '\n')) {
    const size_t equals = line.find('=');
    if (equals != std::string_view::npos) {
      environment.emplace(line.substr(0, equals), line.substr(equals + 1));
    }
  }
  libtrain::MachineFacts machine;
  machine.launch = libtrain::launch_from_environment(environment);
  const libtrain::LaunchFacts& launch = machine.launch;
  const bool beyond = (launch.rank && launch.world_size && *launch.rank >= *launch.world_size) ||
                      (launch.local_rank && launch.local_world_size &&
                       *launch.local_rank >= *launch.local_world_size);
  if (beyond && !launch.problem) {
    std::abort();
  }
  libtrain::diagnose(machine);
  try {
    libtrain::read_environment(launch.variables);
  } catch (const libtrain::Error&) {
  }
  return 0;
}
