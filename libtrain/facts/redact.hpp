#pragma once

#include <span>
#include <string>
#include <string_view>

#include "libtrain/core/api.hpp"
#include "libtrain/facts/machine.hpp"

namespace libtrain {

/// The facts without what tells whose machine this is: ids of GPUs and MIG instances, `hosts`
/// wherever they are named, IP and MAC addresses, the address of a job's first process, user names
/// in paths below /home, and process numbers. What is left decides the same: a plan of the redacted
/// facts differs at most in the texts that quoted an id.
LT_API MachineFacts redact(MachineFacts facts, std::span<const std::string> hosts);

/// The same of one text; what is taken out becomes "[redacted]".
LT_API std::string redact_text(std::string_view text, std::span<const std::string> hosts);

}  // namespace libtrain
