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

/// The character that the valid UTF-8 sequence `text` is.
char32_t code_point(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  if (text.size() == 1) {
    return first;
  }
  char32_t code = first & (0x7FU >> text.size());
  for (const char next : text.substr(1)) {
    code = code << 6U | (static_cast<unsigned char>(next) & 0x3FU);
  }
  return code;
}

/// What a terminal obeys instead of showing it: C0 and C1 controls (ISO 6429), Unicode's line
/// separators, and the characters that reorder a line (UAX 9, table 1).
bool is_control(char32_t code) {
  const auto within = [code](char32_t first, char32_t last) {
    return first <= code && code <= last;
  };
  return code < 0x20 || within(0x7F, 0x9F) || code == 0x61C || within(0x200E, 0x200F) ||
         within(0x2028, 0x202E) || within(0x2066, 0x2069);
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

size_t shown_length(std::string_view text) {
  const size_t length = text.empty() ? 0 : utf8_length(text);
  return length == 0 || is_control(code_point(text.substr(0, length))) ? 0 : length;
}

std::string escaped(char byte) {
  static constexpr std::string_view kHex = "0123456789abcdef";
  const auto value = static_cast<unsigned char>(byte);
  return {'\\', 'x', kHex[value >> 4U], kHex[value & 15U]};
}

std::string quote(std::string_view text, size_t limit) {
  const size_t full = text.size();
  std::string out = "\"";
  size_t used = 0;
  while (!text.empty() && used < limit) {
    const size_t length = shown_length(text);
    if (length == 0) {
      out += escaped(text.front());
    } else if (text.front() == '"' || text.front() == '\\') {
      out.append(1, '\\').push_back(text.front());
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
