#include "libtrain/probe/cpu_list.hpp"

#include <algorithm>

#include "libtrain/core/text.hpp"

namespace libtrain {

std::optional<std::vector<int>> parse_cpu_list(std::string_view text) {
  constexpr int64_t kMaxCpu = 65535;
  text = trim(text);
  if (text.empty()) {
    return std::vector<int>{};
  }
  // Ranges that overlap a thousand times are still no more than all CPUs.
  std::vector<bool> named(kMaxCpu + 1);
  for (const std::string_view range : split(text, ',')) {
    const size_t dash = range.find('-');
    const std::optional<int64_t> first = parse_integer(range.substr(0, dash));
    const std::optional<int64_t> last =
        dash == std::string_view::npos ? first : parse_integer(range.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first || *last > kMaxCpu) {
      return std::nullopt;
    }
    std::fill(named.begin() + *first, named.begin() + *last + 1, true);
  }
  std::vector<int> cpus;
  for (int cpu = 0; cpu <= kMaxCpu; ++cpu) {
    if (named[static_cast<size_t>(cpu)]) {
      cpus.push_back(cpu);
    }
  }
  return cpus;
}

std::string format_cpu_list(std::span<const int> cpus) {
  std::vector<std::string> ranges;
  for (size_t first = 0; first < cpus.size();) {
    size_t last = first;
    while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) {
      ++last;
    }
    ranges.push_back(last == first ? to_text(cpus[first]) : fill("{}-{}", cpus[first], cpus[last]));
    first = last + 1;
  }
  return join(ranges, ",");
}

}  // namespace libtrain
