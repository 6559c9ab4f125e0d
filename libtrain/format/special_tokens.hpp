#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "libtrain/format/wordpiece.hpp"

namespace libtrain::format {

/// Finds added tokens in a text: the leftmost first, the longest of those, none within another.
class SpecialTokens {
 public:
  struct Pattern {
    AddedToken token;  ///< its text is not empty
    int32_t id = 0;
  };

  /// Texts are distinct.
  explicit SpecialTokens(std::vector<Pattern> patterns);

  /// Calls `on_text(string_view)` and `on_token(id)` in the order of the text. Stops and returns
  /// false when `on_text` does.
  template <class OnText, class OnToken>
  bool split(std::string_view text, const OnText& on_text, const OnToken& on_token) const;

 private:
  const Pattern* match(std::string_view text) const;

  std::vector<Pattern> patterns_;         ///< by first byte, then longest first
  std::array<size_t, 257> first_byte_{};  ///< where each first byte's patterns begin
};

/// Whether a word character (`\w`) stands right before `begin` or at `end`.
bool touches_word(std::string_view text, size_t begin, size_t end);
/// Where the white space that ends at `end` begins.
size_t white_space_before(std::string_view text, size_t end);
/// Where the white space that begins at `begin` ends.
size_t white_space_after(std::string_view text, size_t begin);

template <class OnText, class OnToken>
bool SpecialTokens::split(std::string_view text, const OnText& on_text,
                          const OnToken& on_token) const {
  size_t done = 0;
  for (size_t at = 0; at < text.size();) {
    const Pattern* pattern = match(text.substr(at));
    if (pattern == nullptr) {
      ++at;
      continue;
    }
    const AddedToken& token = pattern->token;
    size_t begin = at;
    size_t end = at + token.text.size();
    at = end;
    if (token.single_word && touches_word(text, begin, end)) {
      continue;
    }
    if (token.lstrip) {
      begin = std::max(white_space_before(text, begin), done);
    }
    if (token.rstrip) {
      end = white_space_after(text, end);
    }
    if (done < begin && !on_text(text.substr(done, begin - done))) {
      return false;
    }
    on_token(pattern->id);
    done = end;
  }
  return done == text.size() || on_text(text.substr(done));
}

}  // namespace libtrain::format
