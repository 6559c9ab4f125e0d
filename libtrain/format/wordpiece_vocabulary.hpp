#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace libtrain::format {

/// The texts of ids 0, 1, ..., found by text; and words cut into them.
class WordPieceVocabulary {
 public:
  /// `name` stands for the file in messages. Throws BadFile when a text stands twice or is
  /// not UTF-8.
  WordPieceVocabulary(std::vector<std::string> tokens, std::string_view continuing_prefix,
                      const std::string& name);

  int64_t size() const noexcept { return static_cast<int64_t>(tokens_.size()); }
  std::optional<int32_t> id(std::string_view token) const;

  /// Appends the ids of the longest pieces that make up `word` from left to right; appends nothing
  /// and returns false when there are none.
  bool append_pieces(std::string_view word, std::vector<int32_t>& ids) const;

 private:
  /// Open addressing over `tokens_`, each without its first `skip` bytes.
  struct Table {
    struct Slot {
      uint32_t hash = 0;
      int32_t id = -1;
    };
    std::vector<Slot> slots;
    size_t skip = 0;
    size_t longest = 0;
  };

  Table make_table(size_t skip, const std::vector<int32_t>& ids) const;
  int32_t find(const Table& table, std::string_view text, uint64_t state) const;
  int32_t find_longest(const Table& table, std::string_view text, size_t& length) const;

  std::vector<std::string> tokens_;
  Table whole_;       ///< all tokens
  Table continuing_;  ///< those with the prefix, without it
};

}  // namespace libtrain::format
