#include "libtrain/plan/device_request.hpp"

#include "libtrain/core/text.hpp"

namespace libtrain {

std::optional<DeviceRequest> parse_device(std::string_view text) {
  constexpr std::string_view kPrefix = "cuda:";
  constexpr int64_t kLargestIndex = 127;  // c10::DeviceIndex is an int8_t
  if (text == "cpu") {
    return DeviceRequest{DeviceType::kCpu, {}};
  }
  if (text == "cuda") {
    return DeviceRequest{DeviceType::kCuda, {}};
  }
  if (!text.starts_with(kPrefix)) {
    return std::nullopt;
  }
  const std::optional<int64_t> index = parse_integer(text.substr(kPrefix.size()));
  if (!index || *index < 0 || *index > kLargestIndex) {
    return std::nullopt;
  }
  return DeviceRequest{DeviceType::kCuda, static_cast<int>(*index)};
}

}  // namespace libtrain
