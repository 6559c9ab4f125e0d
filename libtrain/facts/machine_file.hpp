#pragma once

#include <string>

#include "libtrain/core/api.hpp"
#include "libtrain/facts/machine.hpp"

namespace libtrain {

/// The machine that a file of facts describes, as `fasttrain probe --record` writes it. Throws
/// BadFile for a file that cannot be read, is larger than 1 MiB or holds something else.
LT_API MachineFacts read_machine_facts(const std::string& file);

}  // namespace libtrain
