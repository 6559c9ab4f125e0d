#include "libtrain/cli/machine_file.hpp"

#include "libtrain/core/file_system.hpp"
#include "libtrain/probe/probe.hpp"

namespace libtrain {

MachineFacts find_machine(const std::string& file) {
  constexpr int64_t kLargest = int64_t{1} << 20;
  return file.empty() ? probe_machine() : parse_machine_facts(read_file(file, kLargest), file);
}

}  // namespace libtrain
