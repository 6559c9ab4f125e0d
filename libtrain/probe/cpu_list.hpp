#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libtrain/core/api.hpp"

namespace libtrain {

/// The kernel's list form, "0-3,8,10-11", as ascending numbers; an empty text is an empty list.
/// Nothing when it is malformed or names a CPU above 65535.
LT_API std::optional<std::vector<int>> parse_cpu_list(std::string_view text);

/// That form of ascending numbers.
LT_API std::string format_cpu_list(std::span<const int> cpus);

}  // namespace libtrain
