#include "libtrain/cli/machine_file.hpp"

#include "libtrain/facts/machine_file.hpp"

namespace libtrain {

MachineFacts find_machine(const std::string& file, MachineFacts (*probe)()) {
  return file.empty() ? probe() : read_machine_facts(file);
}

}  // namespace libtrain
