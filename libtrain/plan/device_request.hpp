#pragma once

#include <optional>
#include <string_view>

#include "libtrain/core/api.hpp"
#include "libtrain/plan/plan.hpp"

namespace libtrain {

inline constexpr std::string_view kDeviceNames = "cpu, cuda or cuda:N";

/// A device as a user names it; without an index the one of this local rank.
struct DeviceRequest {
  DeviceType type = DeviceType::kCpu;
  std::optional<int> index;

  friend bool operator==(const DeviceRequest&, const DeviceRequest&) = default;
};

/// Reads "cpu", "cuda" or "cuda:N"; nothing for any other text.
LT_API std::optional<DeviceRequest> parse_device(std::string_view text);

}  // namespace libtrain
