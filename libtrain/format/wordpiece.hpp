#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libtrain/core/api.hpp"

namespace libtrain::format {

struct WordPieceOptions {
  bool lowercase = true;
  std::optional<bool> strip_accents;  ///< unset: as `lowercase`
  bool clean_text = true;
  bool handle_chinese_chars = true;
  std::string unknown = "[UNK]";
  std::string cls = "[CLS]";
  std::string sep = "[SEP]";
  std::string continuing_prefix = "##";
  int max_characters_per_word = 100;
  /// Texts that stand for one token wherever they occur ("[MASK]" and the like).
  std::vector<std::string> special_tokens = {"[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]"};
};

struct Encoding {
  std::vector<int32_t> ids;        ///< with [CLS] and [SEP]
  std::vector<int32_t> type_ids;   ///< 0 for the first text, 1 for the second
};

/// BERT's tokenizer, with the exact result of the `tokenizers` package. Thread-safe once made.
class LT_API WordPiece {
 public:
  /// `vocabulary[i]` is the text of id i. Throws BadFile (kContent) when a needed special token is
  /// missing or a token stands twice.
  WordPiece(std::vector<std::string> vocabulary, WordPieceOptions options,
            const std::string& name);
  ~WordPiece();
  WordPiece(WordPiece&&) noexcept;
  WordPiece& operator=(WordPiece&&) noexcept;
  WordPiece(const WordPiece&) = delete;
  WordPiece& operator=(const WordPiece&) = delete;

  /// Reads tokenizer.json if there is one, else vocab.txt with tokenizer_config.json.
  static WordPiece from_directory(const std::string& directory);

  /// Truncates to `max_length` tokens in all (special tokens counted), pairs longest first. Invalid
  /// UTF-8 throws InvalidOption with the byte offset.
  Encoding encode(std::string_view text, int64_t max_length) const;
  Encoding encode(std::string_view text, std::string_view second, int64_t max_length) const;

  int64_t size() const noexcept;
  std::optional<int32_t> id(std::string_view token) const;

 private:
  struct State;
  std::unique_ptr<const State> state_;
};

}  // namespace libtrain::format
