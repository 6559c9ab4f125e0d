#pragma once

#include <string>

#include "libtrain/core/api.hpp"
#include "libtrain/facts/machine.hpp"

namespace libtrain {

/// All facts as a table for people: one a line under its group, sizes in binary units, what is not
/// known as "unknown". For reading only: format_machine_facts() is the form that reads back.
LT_API std::string describe_machine(const MachineFacts& facts);

/// All facts as one JSON object, names and order as in the text form, what is not known as null.
/// Bytes that are not UTF-8 become U+FFFD.
LT_API std::string machine_facts_json(const MachineFacts& facts);

}  // namespace libtrain
