#include <optional>

#include "libtrain/core/text.hpp"
#include "libtrain/facts/value_text.hpp"

namespace libtrain {
namespace {

constexpr std::string_view kScalar = "scalar";
constexpr std::string_view kTypeCharacters = "abcdefghijklmnopqrstuvwxyz0123456789_";

std::string format(const ShapeCount& value) {
  std::vector<std::string> sizes;
  for (const int64_t size : value.shape) {
    sizes.push_back(to_text(size));
  }
  return fill("{} {} x{}", value.dtype, sizes.empty() ? std::string(kScalar) : join(sizes, "x"),
              value.count);
}

std::optional<std::vector<int64_t>> parse_shape(std::string_view text) {
  std::vector<int64_t> shape;
  if (text == kScalar) {
    return shape;
  }
  for (const std::string_view part : split(text, 'x')) {
    const std::optional<int64_t> size = parse_integer(part);
    if (!size || *size < 0) {
      return std::nullopt;
    }
    shape.push_back(*size);
  }
  return shape;
}

std::optional<ShapeCount> parse(std::string_view text) {
  const auto words = split(text, ' ');
  if (words.size() != 3 || words[0].empty() || !words[2].starts_with('x') ||
      words[0].find_first_not_of(kTypeCharacters) != std::string_view::npos) {
    return std::nullopt;
  }
  const auto shape = parse_shape(words[1]);
  const std::optional<int64_t> count = parse_integer(words[2].substr(1));
  if (!shape || !count || *count < 1) {
    return std::nullopt;
  }
  return ShapeCount{std::string(words[0]), *shape, *count};
}

}  // namespace

std::string format_value(const std::vector<ShapeCount>& values) {
  std::vector<std::string> items;
  items.reserve(values.size());
  for (const ShapeCount& value : values) {
    items.push_back(format(value));
  }
  return format_value(items);
}

Expected parse_value(std::string_view text, std::vector<ShapeCount>& values) {
  constexpr std::string_view kExpected = "a list such as [float32 3072x768 x12, float32 768 x24]";
  std::vector<std::string> items;
  if (parse_value(text, items)) {
    return kExpected;
  }
  values.clear();
  for (const std::string& item : items) {
    std::optional<ShapeCount> value = parse(item);
    if (!value) {
      return kExpected;
    }
    values.push_back(std::move(*value));
  }
  return std::nullopt;
}

}  // namespace libtrain
