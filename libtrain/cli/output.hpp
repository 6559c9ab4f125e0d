#pragma once

#include <string_view>

#include "libtrain/core/api.hpp"

namespace libtrain {

/// Writes all of `text` to standard output and flushes it. Throws BadFile (kOutput) when that
/// fails: a full disk or a closed pipe must not look like success.
LT_API void write_output(std::string_view text);

/// Columns of the terminal on standard output; 100 when it is none, never below 60.
LT_API int output_width();

}  // namespace libtrain
