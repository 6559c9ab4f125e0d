#include "libtrain/core/text.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

namespace libtrain {
namespace {

template <class T>
std::string shortest(T value) {
  std::array<char, 64> buffer{};
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return {buffer.data(), end};
}

template <class T>
std::optional<T> parse_whole(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

/// Length of the UTF-8 sequence at the start of `text`, 0 when it is malformed (RFC 3629).
size_t utf8_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) {
    return 1;
  }
  const size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) {
    return 0;
  }
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) {
      return 0;
    }
  }
  const bool overlong = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xF0 && byte(1) < 0x90);
  const bool surrogate = first == 0xED && byte(1) > 0x9F;
  const bool too_large = first == 0xF4 && byte(1) > 0x8F;
  return overlong || surrogate || too_large ? 0 : length;
}

}  // namespace

std::string to_text(double value) { return shortest(value); }
std::string to_text(float value) { return shortest(value); }
std::string to_text(int64_t value) { return shortest(value); }
std::string to_text(uint64_t value) { return shortest(value); }

std::string fill_all(std::string_view message, std::span<const std::string> values) {
  std::string out;
  size_t next = 0;
  while (next < values.size()) {
    const size_t at = message.find("{}");
    if (at == std::string_view::npos) {
      break;
    }
    out.append(message.substr(0, at)).append(values[next++]);
    message.remove_prefix(at + 2);
  }
  return out.append(message);
}

std::string quote(std::string_view text, size_t limit) {
  static constexpr std::string_view kHex = "0123456789abcdef";
  const size_t full = text.size();
  std::string out = "\"";
  size_t used = 0;
  while (!text.empty() && used < limit) {
    const size_t length = utf8_length(text);
    const auto c = static_cast<unsigned char>(text.front());
    if (length == 0 || c < 0x20 || c == 0x7F) {
      out.append("\\x").push_back(kHex[c >> 4U]);
      out.push_back(kHex[c & 15U]);
    } else if (c == '"' || c == '\\') {
      out.append(1, '\\').push_back(static_cast<char>(c));
    } else {
      out.append(text.substr(0, length));
    }
    const size_t step = std::max<size_t>(length, 1);
    text.remove_prefix(step);
    used += step;
  }
  out.push_back('"');
  if (!text.empty()) {
    out += fill("... ({} bytes)", full);
  }
  return out;
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\r\n\v\f";
  const size_t first = text.find_first_not_of(kSpaces);
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(kSpaces) - first + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) {
      return parts;
    }
    text.remove_prefix(at + 1);
  }
}

std::string join(std::span<const std::string> parts, std::string_view separator) {
  std::string out;
  for (size_t i = 0; i < parts.size(); ++i) {
    out.append(i == 0 ? std::string_view{} : separator).append(parts[i]);
  }
  return out;
}

bool is_valid_utf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    if (length == 0) {
      return false;
    }
    text.remove_prefix(length);
  }
  return true;
}

std::optional<int64_t> parse_integer(std::string_view text) { return parse_whole<int64_t>(text); }
std::optional<double> parse_number(std::string_view text) { return parse_whole<double>(text); }

std::optional<bool> parse_bool(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (lower == "1" || lower == "true" || lower == "yes" || lower == "on") {
    return true;
  }
  if (lower == "0" || lower == "false" || lower == "no" || lower == "off") {
    return false;
  }
  return std::nullopt;
}

std::string format_bytes(int64_t bytes) {
  static constexpr std::array<std::string_view, 6> kUnits = {"B",   "KiB", "MiB",
                                                             "GiB", "TiB", "PiB"};
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  while (std::abs(value) >= 1024.0 && unit + 1 < kUnits.size()) {
    value /= 1024.0;
    ++unit;
  }
  std::array<char, 64> buffer{};
  const auto [end, error] = unit == 0
                                ? std::to_chars(buffer.data(), buffer.data() + buffer.size(), bytes)
                                : std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                                std::chars_format::fixed, 1);
  return fill("{} {}", std::string_view(buffer.data(), end), kUnits[unit]);
}

}  // namespace libtrain
