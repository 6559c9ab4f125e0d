#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "libtrain/core/text.hpp"
#include "libtrain/format/wordpiece.hpp"

namespace libtrain::format {

/// A tokenizer whose results are read back as text. Its vocabulary is `words`, apart by spaces,
/// behind [PAD] [UNK] [CLS] [SEP] [MASK], ids 0 to 4.
class WordPieceText {
 public:
  explicit WordPieceText(std::string_view words, const WordPieceOptions& options = {})
      : tokens_(vocabulary(words)), tokenizer_(tokens_, options, "vocab.txt") {}

  /// What stands between the outer [CLS] and [SEP].
  std::string pieces(std::string_view text) const {
    const std::vector<int32_t> ids = tokenizer_.encode(text, 10'000).ids;
    EXPECT_EQ(ids.front(), 2);
    EXPECT_EQ(ids.back(), 3);
    return text_of({ids.begin() + 1, ids.end() - 1});
  }

  std::string text_of(const std::vector<int32_t>& ids) const {
    std::vector<std::string> parts;
    for (const int32_t id : ids) {
      const auto index = static_cast<size_t>(id);
      parts.push_back(index < tokens_.size() ? tokens_[index] : "id " + to_text(id));
    }
    return join(parts, " ");
  }

  const WordPiece& tokenizer() const { return tokenizer_; }

  static std::vector<std::string> vocabulary(std::string_view words) {
    std::vector<std::string> tokens{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};
    for (const std::string_view word : split(words, ' ')) {
      if (!word.empty()) {
        tokens.emplace_back(word);
      }
    }
    return tokens;
  }

 private:
  std::vector<std::string> tokens_;
  WordPiece tokenizer_;
};

}  // namespace libtrain::format
