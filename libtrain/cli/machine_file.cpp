#include "libtrain/cli/machine_file.hpp"

#include "libtrain/facts/machine_file.hpp"
#include "libtrain/probe/probe.hpp"

namespace libtrain {

MachineFacts find_machine(const std::string& file) {
  return file.empty() ? probe_machine() : read_machine_facts(file);
}

}  // namespace libtrain
