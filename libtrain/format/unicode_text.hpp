#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace libtrain::format {

// Unicode as the `tokenizers` package 0.23 sees it; unicode_tables.hpp says which versions these
// are.

/// Byte offset of the first sequence that is not UTF-8 (RFC 3629).
std::optional<size_t> find_invalid_utf8(std::string_view text);

/// The code point at byte `at` of valid UTF-8; moves `at` behind it.
inline char32_t next_code_point(std::string_view text, size_t& at) {
  const auto byte = [&] { return static_cast<unsigned char>(text[at++]); };
  const char32_t first = byte();
  if (first < 0x80) {
    return first;
  }
  const int more = first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3;
  char32_t code = first & (0x3FU >> static_cast<unsigned>(more));
  for (int i = 0; i < more; ++i) {
    code = (code << 6U) | (byte() & 0x3FU);
  }
  return code;
}

/// The code point that ends before byte `at > 0`; moves `at` to its start.
char32_t previous_code_point(std::string_view text, size_t& at);

void append_utf8(std::string& out, char32_t code);

bool is_white_space(char32_t code);
/// Cc, Cf and Co, but for tab, line feed and carriage return.
bool is_control(char32_t code);
/// P* and ASCII's symbols.
bool is_punctuation(char32_t code);
bool is_nonspacing_mark(char32_t code);
/// The blocks of Chinese ideographs that BERT sets apart.
bool is_chinese(char32_t code);
/// `\w` of UTS 18 (letters, marks, decimal digits, connectors, joiners), by utf8proc's data.
bool is_word_character(char32_t code);

/// The full lower-case mapping, without context: no final sigma.
void append_lowercase(std::string& out, char32_t code);

/// The full canonical decomposition, at most 4 code points; returns their number.
size_t decompose(char32_t code, std::array<char32_t, 4>& out);

/// 0 for a starter.
int combining_class(char32_t code);

}  // namespace libtrain::format
