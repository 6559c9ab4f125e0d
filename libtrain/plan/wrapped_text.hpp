#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "libtrain/core/api.hpp"

namespace libtrain {

/// Columns a text takes up: its code points.
LT_API size_t width_of(std::string_view text);

/// `text` filled up with spaces to `width` columns.
LT_API std::string padded(std::string_view text, size_t width);

/// The words of `text` in lines of at most `width` columns; a longer word has a line of its own.
LT_API std::vector<std::string> wrapped(std::string_view text, size_t width);

}  // namespace libtrain
