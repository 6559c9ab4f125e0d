#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "libtrain/core/api.hpp"

namespace libtrain {

/// The soft limit on the line of /proc/self/limits that starts with `name` ("Max open files");
/// kUnlimited for "unlimited", nothing where there is no such line or no number.
LT_API std::optional<int64_t> parse_soft_limit(std::string_view limits, std::string_view name);

}  // namespace libtrain
