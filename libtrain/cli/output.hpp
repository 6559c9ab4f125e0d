#pragma once

#include <string_view>

namespace libtrain {

/// Writes all of `text` to standard output and flushes it. Throws BadFile (kOutput) when that
/// fails: a full disk or a closed pipe must not look like success.
void write_output(std::string_view text);

/// Columns of the terminal on standard output; 100 when it is none, never below 60.
int output_width();

}  // namespace libtrain
