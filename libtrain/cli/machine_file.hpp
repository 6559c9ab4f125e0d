#pragma once

#include <string>

#include "libtrain/facts/machine.hpp"

namespace libtrain {

/// The machine that a file of facts describes; of an empty name, the one this runs on. Throws
/// BadFile for a file that cannot be read as facts.
MachineFacts find_machine(const std::string& file);

}  // namespace libtrain
