#include "libtrain/facts/machine_file.hpp"

#include "libtrain/core/file_system.hpp"

namespace libtrain {

MachineFacts read_machine_facts(const std::string& file) {
  constexpr int64_t kLargest = int64_t{1} << 20;
  return parse_machine_facts(read_file(file, kLargest), file);
}

}  // namespace libtrain
