#include "libtrain/probe/limits.hpp"

#include "libtrain/core/text.hpp"
#include "libtrain/facts/host.hpp"

namespace libtrain {

std::optional<int64_t> parse_soft_limit(std::string_view limits, std::string_view name) {
  for (std::string_view line : split(limits, '\n')) {
    if (!line.starts_with(name) || line.substr(name.size()).find_first_not_of(' ') == 0) {
      continue;  // another limit whose name starts with this one
    }
    line = trim(line.substr(name.size()));
    const std::string_view soft = line.substr(0, line.find(' '));
    return soft == "unlimited" ? kUnlimited : parse_integer(soft);
  }
  return std::nullopt;
}

}  // namespace libtrain
