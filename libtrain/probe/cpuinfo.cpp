#include "libtrain/probe/cpuinfo.hpp"

#include <algorithm>

#include "libtrain/core/text.hpp"

namespace libtrain {
namespace {

std::optional<int> small_integer(std::string_view text) {
  const std::optional<int64_t> value = parse_integer(text);
  return value && *value >= 0 && *value <= 65535 ? std::optional(static_cast<int>(*value))
                                                 : std::nullopt;
}

bool has_word(std::string_view text, std::string_view word) {
  const auto words = split(text, ' ');
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

CpuInfo parse_cpuinfo(std::string_view text) {
  CpuInfo out;
  std::optional<int> processor;
  std::string_view package;
  std::string implementer;
  for (const std::string_view line : split(text, '\n')) {
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) {
      continue;
    }
    const std::string_view key = trim(line.substr(0, colon));
    const std::string_view value = trim(line.substr(colon + 1));
    if (key == "processor") {
      processor = small_integer(value);
      package = {};
    } else if (key == "physical id") {
      package = value;
    } else if (key == "core id" && processor) {
      const std::optional<int> socket = small_integer(package);
      const std::optional<int> core = small_integer(value);
      if (socket && core) {
        out.cores.emplace(*processor, std::pair(*socket, *core));
      }
    } else if (key == "model name" && !value.empty() && !out.model) {
      out.model = value;
    } else if (key == "Features" && !out.arm_bf16) {
      out.arm_bf16 = has_word(value, "bf16");
      out.arm_sve = has_word(value, "sve");
    } else if (key == "CPU implementer") {
      implementer = value;
    } else if (key == "CPU part" && !out.model) {
      out.model = fill("ARM implementer {} part {}", implementer, value);
    }
  }
  return out;
}

}  // namespace libtrain
