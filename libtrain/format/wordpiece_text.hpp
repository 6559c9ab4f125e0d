#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "libtrain/format/unicode_text.hpp"
#include "libtrain/format/wordpiece.hpp"

namespace libtrain::format {

/// BERT's cleaning of text: controls out, white space to ' ', Chinese characters set apart, accents
/// off, lower case; each step as the options say, in this order.
class BertNormalizer {
 public:
  explicit BertNormalizer(const WordPieceOptions& options);

  /// Appends the normal form of `text`, which is valid UTF-8.
  void append(std::string_view text, std::string& out) const;

 private:
  class Output;

  std::array<uint8_t, 128> ascii_{};  ///< what each ASCII character becomes, or kDropped
  bool clean_text_;
  bool handle_chinese_chars_;
  bool strip_accents_;
  bool lowercase_;
};

/// Calls `visit` for each word: what lies between white space, each punctuation character alone.
/// Stops and returns false when `visit` does.
template <class Visit>
bool for_each_word(std::string_view text, const Visit& visit) {
  size_t begin = 0;
  size_t at = 0;
  while (at < text.size()) {
    const size_t here = at;
    const char32_t code = next_code_point(text, at);
    const bool punctuation = is_punctuation(code);
    if (!punctuation && !is_white_space(code)) {
      continue;
    }
    if (here > begin && !visit(text.substr(begin, here - begin))) {
      return false;
    }
    if (punctuation && !visit(text.substr(here, at - here))) {
      return false;
    }
    begin = at;
  }
  return begin == text.size() || visit(text.substr(begin));
}

}  // namespace libtrain::format
