#include "libtrain/facts/compute_capability.hpp"

#include "libtrain/core/text.hpp"

namespace libtrain {
namespace {

bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) {
    return false;
  }
  text.remove_prefix(prefix.size());
  return true;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::string to_text(ComputeCapability value) { return fill("{}.{}", value.major, value.minor); }

std::optional<ComputeCapability> parse_compute_capability(std::string_view text) {
  const bool compiled = take_prefix(text, "sm_") || take_prefix(text, "compute_");
  if (text.ends_with("+PTX")) {
    text.remove_suffix(4);
  }
  if (text.ends_with('a') || text.ends_with('f')) {
    text.remove_suffix(1);
  }
  // "120" and "12.0" both end in one digit of minor version.
  const size_t separator = compiled ? 0 : 1;
  if (text.size() < 2 + separator || text.size() > 3 + separator || !is_digit(text.back())) {
    return std::nullopt;
  }
  const int minor = text.back() - '0';
  text.remove_suffix(1);
  if (!compiled) {
    if (text.back() != '.') {
      return std::nullopt;
    }
    text.remove_suffix(1);
  }
  const std::optional<int64_t> major = parse_integer(text);
  if (!major || *major < 1) {
    return std::nullopt;
  }
  return ComputeCapability{static_cast<int>(*major), minor};
}

}  // namespace libtrain
