#pragma once

#include <string>

#include "libtrain/facts/machine.hpp"
#include "libtrain/probe/probe.hpp"

namespace libtrain {

/// The machine that a file of facts describes; of an empty name, the one this runs on, which
/// `probe` reads. Throws BadFile for a file that cannot be read as facts.
MachineFacts find_machine(const std::string& file, MachineFacts (*probe)() = probe_machine);

}  // namespace libtrain
