#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libtrain/facts/compute_capability.hpp"
#include "libtrain/facts/shape_count.hpp"

namespace libtrain {

/// One fact as text on a line of its own. Text is written bare where that reads back, else in
/// double quotes with \" \\ \n \t and \xNN, so any bytes survive and the line stays valid UTF-8.
std::string format_value(const std::string& value);
std::string format_value(bool value);
std::string format_value(int value);
std::string format_value(int64_t value);
std::string format_value(double value);
std::string format_value(ComputeCapability value);
std::string format_value(const std::vector<std::string>& values);  ///< "[sm_80, sm_90]"
std::string format_value(const std::vector<ShapeCount>& values);   ///< "[float32 3072x768 x12]"

/// The inverse: stores the value and returns nothing, or returns what was expected. Numbers are
/// counts, sizes, indices or shares: negative and non-finite ones are refused.
using Expected = std::optional<std::string_view>;
Expected parse_value(std::string_view text, std::string& value);
Expected parse_value(std::string_view text, bool& value);
Expected parse_value(std::string_view text, int& value);
Expected parse_value(std::string_view text, int64_t& value);
Expected parse_value(std::string_view text, double& value);
Expected parse_value(std::string_view text, ComputeCapability& value);
Expected parse_value(std::string_view text, std::vector<std::string>& values);
Expected parse_value(std::string_view text, std::vector<ShapeCount>& values);

/// A name inside a key: bare where it is a C identifier, else quoted, and never with a '='.
std::string format_name(const std::string& name);
std::optional<std::string> parse_name(std::string_view text);

}  // namespace libtrain
