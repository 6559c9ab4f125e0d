#pragma once

#include <span>
#include <string>
#include <string_view>

#include "libtrain/core/api.hpp"

namespace libtrain {

/// Levenshtein: the fewest insertions, deletions and replacements that turn `a` into `b`.
LT_API size_t edit_distance(std::string_view a, std::string_view b);

/// The name a user most likely meant: the one at the smallest edit distance (Levenshtein) from
/// `text`, the first of equals. Empty when none is within a third of the text's length.
LT_API std::string_view nearest_name(std::string_view text,
                                     std::span<const std::string_view> names);

/// "; did you mean X?", or nothing.
LT_API std::string suggestion(std::string_view text, std::span<const std::string_view> names);

}  // namespace libtrain
