#pragma once

#include <compare>
#include <optional>
#include <string>

#include "libtrain/core/api.hpp"

namespace libtrain {

/// The first three numbers of a version; missing ones are 0.
struct Version {
  int major = 0;
  int minor = 0;
  int patch = 0;

  friend auto operator<=>(const Version&, const Version&) = default;
};

/// Reads "13.2", "9.26.0" and "9.26.0.51"; nothing for other text and for an empty `text`.
LT_API std::optional<Version> parse_version(const std::optional<std::string>& text);

}  // namespace libtrain
