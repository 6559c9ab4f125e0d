#pragma once

#include <string>
#include <string_view>

#include "libtrain/core/api.hpp"
#include "libtrain/facts/machine.hpp"

namespace libtrain {

/// What measurements hold for: the CPU, how much of it this process may use, and the libraries.
LT_API std::string measured_for(const MachineFacts& machine);

/// Name of the file that keeps the measurements, one for each measured_for():
/// "measured-0123456789abcdef.facts".
LT_API std::string measured_file_name(const MachineFacts& machine);

/// The text of that file, and what it says. Throws BadFile as parse_machine_facts() does.
LT_API std::string format_measured_facts(const MeasuredFacts& facts, const MachineFacts& machine);
LT_API MeasuredFacts parse_measured_facts(std::string_view text, const std::string& file);

}  // namespace libtrain
