#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libtrain/core/api.hpp"

namespace libtrain::format {

/// A text that stands for one token wherever it occurs, like "[MASK]".
struct AddedToken {
  std::string text;
  bool single_word = false;  ///< not where a word character stands right before or behind it
  bool lstrip = false;       ///< takes the white space before it
  bool rstrip = false;       ///< takes the white space behind it
  bool normalized = false;   ///< looked for in the normal form of the text, by its own normal form
};

struct WordPieceOptions {
  bool lowercase = true;
  std::optional<bool> strip_accents;  ///< unset: as `lowercase`
  bool clean_text = true;
  bool handle_chinese_chars = true;
  std::string unknown = "[UNK]";
  std::string cls = "[CLS]";
  std::string sep = "[SEP]";
  std::string continuing_prefix = "##";
  int64_t max_characters_per_word = 100;  ///< a longer word is `unknown`
  /// Those that are not in the vocabulary get the ids behind it, in this order.
  std::vector<AddedToken> added_tokens = {{"[UNK]"}, {"[SEP]"}, {"[PAD]"}, {"[CLS]"}, {"[MASK]"}};
};

struct Encoding {
  std::vector<int32_t> ids;       ///< [CLS] text [SEP], or [CLS] text [SEP] second [SEP]
  std::vector<int32_t> type_ids;  ///< 0 up to the first [SEP], 1 behind it
};

/// BERT's tokenizer, with the exact result of the `tokenizers` package 0.23. Thread-safe once made.
///
/// The package sorts characters by Unicode 8.0, decomposes by 9.0 and lowers case by 17.0; so does
/// this class, with any utf8proc from 2.8 on. Only `single_word` goes by utf8proc's own version.
class LT_API WordPiece {
 public:
  /// `vocabulary[i]` is the text of id i; `name` stands for the file in messages. Throws BadFile
  /// (kContent) when `unknown`, `cls` or `sep` is missing, a token stands twice, a text is not
  /// UTF-8, or an added token is empty; InvalidOption for a negative max_characters_per_word.
  WordPiece(std::vector<std::string> vocabulary, const WordPieceOptions& options,
            const std::string& name);
  ~WordPiece();
  WordPiece(WordPiece&& other) noexcept;
  WordPiece& operator=(WordPiece&& other) noexcept;
  WordPiece(const WordPiece&) = delete;
  WordPiece& operator=(const WordPiece&) = delete;

  /// Reads tokenizer.json if there is one, else vocab.txt with tokenizer_config.json. What
  /// tokenizer.json says of truncation and padding is not used. Throws BadFile for what is missing
  /// or malformed, and Unsupported for a tokenizer of another kind.
  static WordPiece from_directory(const std::string& directory);

  /// Truncates to `max_length` tokens in all (special tokens counted), pairs longest first. Throws
  /// InvalidOption for invalid UTF-8, with the byte offset, and when `max_length` has no room for
  /// the special tokens (2, with a second text 3).
  Encoding encode(std::string_view text, int64_t max_length) const;
  Encoding encode(std::string_view text, std::string_view second, int64_t max_length) const;

  /// Number of ids, added tokens included.
  int64_t size() const noexcept;
  std::optional<int32_t> id(std::string_view token) const;

 private:
  struct State;
  std::unique_ptr<const State> state_;
};

}  // namespace libtrain::format
