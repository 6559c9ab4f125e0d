#include "libtrain/format/special_tokens.hpp"

#include <tuple>

#include "libtrain/format/unicode_text.hpp"

namespace libtrain::format {
namespace {

unsigned char first_byte(const SpecialTokens::Pattern& pattern) {
  return static_cast<unsigned char>(pattern.token.text.front());
}

}  // namespace

SpecialTokens::SpecialTokens(std::vector<Pattern> patterns) : patterns_(std::move(patterns)) {
  std::sort(patterns_.begin(), patterns_.end(), [](const Pattern& a, const Pattern& b) {
    return std::make_tuple(first_byte(a), b.token.text.size()) <
           std::make_tuple(first_byte(b), a.token.text.size());
  });
  for (const Pattern& pattern : patterns_) {
    ++first_byte_[first_byte(pattern) + 1U];
  }
  for (size_t byte = 1; byte < first_byte_.size(); ++byte) {
    first_byte_[byte] += first_byte_[byte - 1];
  }
}

const SpecialTokens::Pattern* SpecialTokens::match(std::string_view text) const {
  const auto byte = static_cast<unsigned char>(text.front());
  for (size_t i = first_byte_[byte]; i < first_byte_[byte + 1U]; ++i) {
    if (text.starts_with(patterns_[i].token.text)) {
      return &patterns_[i];
    }
  }
  return nullptr;
}

bool touches_word(std::string_view text, size_t begin, size_t end) {
  return (begin > 0 && is_word_character(previous_code_point(text, begin))) ||
         (end < text.size() && is_word_character(next_code_point(text, end)));
}

size_t white_space_before(std::string_view text, size_t end) {
  for (size_t begin = end; begin > 0;) {
    if (!is_white_space(previous_code_point(text, begin))) {
      break;
    }
    end = begin;
  }
  return end;
}

size_t white_space_after(std::string_view text, size_t begin) {
  for (size_t end = begin; end < text.size();) {
    if (!is_white_space(next_code_point(text, end))) {
      break;
    }
    begin = end;
  }
  return begin;
}

}  // namespace libtrain::format
