#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libtrain/core/api.hpp"

namespace libtrain {

/// Shortest text that reads back to the same value ("0.1", "1e-05", "nan").
LT_API std::string to_text(double value);
LT_API std::string to_text(float value);
LT_API std::string to_text(int64_t value);
LT_API std::string to_text(uint64_t value);
template <std::integral T>
requires(!std::same_as<T, bool> && !std::same_as<T, int64_t> &&
         !std::same_as<T, uint64_t>) std::string to_text(T value) {
  return std::signed_integral<T> ? to_text(static_cast<int64_t>(value))
                                 : to_text(static_cast<uint64_t>(value));
}
inline std::string to_text(bool value) { return value ? "true" : "false"; }
inline std::string to_text(std::string_view value) { return std::string(value); }
inline std::string to_text(const std::string& value) { return value; }
inline std::string to_text(const char* value) { return value; }

/// `message` with each `{}` replaced by the next of `values`, left as it is when none is left.
LT_API std::string fill_all(std::string_view message, std::span<const std::string> values);

template <class... Args>
std::string fill(std::string_view message, const Args&... args) {
  const std::array<std::string, sizeof...(Args)> values{to_text(args)...};
  return fill_all(message, values);
}

/// Bytes of the character that `text` starts with where it may be shown as it is; 0 where it must
/// be escaped: control characters, Unicode's line separators and reordering marks, and what is not
/// UTF-8.
LT_API size_t shown_length(std::string_view text);
/// "\x1b"
LT_API std::string escaped(char byte);
/// Untrusted text made safe for a one-line message: quoted, what must be escaped escaped, cut after
/// `limit` bytes with the original length named.
LT_API std::string quote(std::string_view text, size_t limit = 80);

LT_API std::string_view trim(std::string_view text);
LT_API std::vector<std::string_view> split(std::string_view text, char separator);
LT_API std::string join(std::span<const std::string> parts, std::string_view separator);
LT_API bool is_valid_utf8(std::string_view text);

/// Strict readers: the whole text must be the value; no spaces, no sign '+', no overflow, no
/// locale.
LT_API std::optional<int64_t> parse_integer(std::string_view text);
LT_API std::optional<double> parse_number(std::string_view text);
/// 1/0, true/false, yes/no, on/off in any case.
LT_API std::optional<bool> parse_bool(std::string_view text);

/// Binary units with one decimal: "512 B", "1.5 KiB", "80.0 GiB".
LT_API std::string format_bytes(int64_t bytes);

}  // namespace libtrain
