#include "libtrain/plan/version.hpp"

#include <array>
#include <limits>

#include "libtrain/core/text.hpp"

namespace libtrain {

std::optional<Version> parse_version(const std::optional<std::string>& text) {
  if (!text) {
    return std::nullopt;
  }
  std::array<int, 3> numbers{};
  size_t used = 0;
  for (const std::string_view part : split(*text, '.')) {
    const std::optional<int64_t> number = parse_integer(part);
    if (!number || *number < 0 || *number > std::numeric_limits<int>::max()) {
      return std::nullopt;
    }
    if (used < numbers.size()) {
      numbers[used++] = static_cast<int>(*number);
    }
  }
  return Version{numbers[0], numbers[1], numbers[2]};
}

}  // namespace libtrain
