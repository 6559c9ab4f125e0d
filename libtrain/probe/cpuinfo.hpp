#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "libtrain/core/api.hpp"

namespace libtrain {

/// What /proc/cpuinfo says.
struct CpuInfo {
  std::optional<std::string> model;  ///< "model name"; on Arm the implementer and part numbers
  std::optional<bool> arm_bf16;      ///< the Arm feature word; empty where there are no Features
  std::optional<bool> arm_sve;       ///< likewise
  /// processor → (physical id, core id), where both are given.
  std::map<int, std::pair<int, int>> cores;
};

LT_API CpuInfo parse_cpuinfo(std::string_view text);

}  // namespace libtrain
