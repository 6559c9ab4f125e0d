#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

#include "libtrain/core/api.hpp"

namespace libtrain {

/// CUDA compute capability as a pair: 12.0 is newer than 9.0, and neither is a decimal number.
struct ComputeCapability {
  int major = 0;
  int minor = 0;

  friend auto operator<=>(const ComputeCapability&, const ComputeCapability&) = default;
};

/// "8.0".
LT_API std::string to_text(ComputeCapability value);
/// Reads "8.0", "sm_80", "sm_120", "9.0a", "10.0f", "8.0+PTX", "compute_90"; nothing otherwise.
LT_API std::optional<ComputeCapability> parse_compute_capability(std::string_view text);

}  // namespace libtrain
