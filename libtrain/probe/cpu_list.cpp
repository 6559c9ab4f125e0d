#include "libtrain/probe/cpu_list.hpp"

#include <algorithm>

#include "libtrain/core/text.hpp"

namespace libtrain {

std::optional<std::vector<int>> parse_cpu_list(std::string_view text) {
  constexpr int64_t kMaxCpu = 65535;
  std::vector<int> cpus;
  text = trim(text);
  if (text.empty()) {
    return cpus;
  }
  for (const std::string_view range : split(text, ',')) {
    const size_t dash = range.find('-');
    const std::optional<int64_t> first = parse_integer(range.substr(0, dash));
    const std::optional<int64_t> last =
        dash == std::string_view::npos ? first : parse_integer(range.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first || *last > kMaxCpu) {
      return std::nullopt;
    }
    for (int64_t cpu = *first; cpu <= *last; ++cpu) {
      cpus.push_back(static_cast<int>(cpu));
    }
  }
  std::sort(cpus.begin(), cpus.end());
  cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
  return cpus;
}

}  // namespace libtrain
