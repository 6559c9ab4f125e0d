#include "libtrain/probe/xid.hpp"

#include <algorithm>

#include "libtrain/core/text.hpp"
#include "libtrain/probe/kernel_driver.hpp"

namespace libtrain {

std::map<std::string, std::vector<std::string>> parse_xids(std::string_view log) {
  constexpr std::string_view kMark = "NVRM: Xid (";
  constexpr std::string_view kBus = "PCI:";
  std::map<std::string, std::vector<std::string>> out;
  for (std::string_view line : split(log, '\n')) {
    const size_t mark = line.find(kMark);
    if (mark == std::string_view::npos) {
      continue;
    }
    line.remove_prefix(mark + kMark.size());
    if (line.starts_with(kBus)) {
      line.remove_prefix(kBus.size());
    }
    const size_t end = line.find("): ");
    if (end == std::string_view::npos) {
      continue;
    }
    const std::string_view number = line.substr(end + 3, line.find(',', end) - end - 3);
    if (parse_integer(number).value_or(-1) < 0) {
      continue;
    }
    std::vector<std::string>& xids = out[kernel_bus_id(line.substr(0, end))];
    if (std::ranges::find(xids, number) == xids.end()) {
      xids.emplace_back(number);
    }
  }
  return out;
}

}  // namespace libtrain
