#include "libtrain/format/wordpiece_vocabulary.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "libtrain/core/require.hpp"

namespace libtrain::format {
namespace {

// FNV-1a, 64 bits: cheap to extend by a byte, so all prefixes of a word cost one pass.
constexpr uint64_t kHashStart = 0xCBF29CE484222325U;

uint64_t extend(uint64_t state, char c) {
  return (state ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
}

uint64_t hash_of(std::string_view text) {
  return std::accumulate(text.begin(), text.end(), kHashStart, extend);
}

/// FNV's low bits are weak: take the high half after one more multiplication (Fibonacci hashing).
uint32_t slot_hash(uint64_t state) {
  return static_cast<uint32_t>((state * 0x9E3779B97F4A7C15U) >> 32U);
}

}  // namespace

WordPieceVocabulary::WordPieceVocabulary(std::vector<std::string> tokens,
                                         std::string_view continuing_prefix,
                                         const std::string& name)
    : tokens_(std::move(tokens)) {
  std::vector<int32_t> all(tokens_.size());
  std::iota(all.begin(), all.end(), 0);
  std::vector<int32_t> prefixed;
  std::copy_if(all.begin(), all.end(), std::back_inserter(prefixed), [&](int32_t id) {
    const std::string& token = tokens_[static_cast<size_t>(id)];
    return token.size() > continuing_prefix.size() && token.starts_with(continuing_prefix);
  });
  whole_ = make_table(0, all);
  continuing_ = make_table(continuing_prefix.size(), prefixed);
  for (const int32_t i : all) {
    const std::string& token = tokens_[static_cast<size_t>(i)];
    if (!is_valid_utf8(token)) {
      throw BadFile(fill("[wordpiece.open] {}: a token is not UTF-8: token={}, id={}", quote(name),
                         quote(token), i),
                    name);
    }
    const int32_t first = *id(token);
    if (first != i) {
      throw BadFile(fill("[wordpiece.open] {}: a token stands twice: token={}, ids={} and {}",
                         quote(name), quote(token), first, i),
                    name);
    }
  }
}

WordPieceVocabulary::Table WordPieceVocabulary::make_table(size_t skip,
                                                           const std::vector<int32_t>& ids) const {
  Table table;
  table.skip = skip;
  table.slots.resize(std::bit_ceil(2 * ids.size() + 1));
  const size_t mask = table.slots.size() - 1;
  for (const int32_t id : ids) {
    const std::string_view text = std::string_view(tokens_[static_cast<size_t>(id)]).substr(skip);
    table.longest = std::max(table.longest, text.size());
    const uint32_t hash = slot_hash(hash_of(text));
    size_t at = hash & mask;
    while (table.slots[at].id >= 0) {
      at = (at + 1) & mask;
    }
    table.slots[at] = {hash, id};
  }
  return table;
}

int32_t WordPieceVocabulary::find(const Table& table, std::string_view text, uint64_t state) const {
  const uint32_t hash = slot_hash(state);
  const size_t mask = table.slots.size() - 1;
  for (size_t at = hash & mask; table.slots[at].id >= 0; at = (at + 1) & mask) {
    const auto& slot = table.slots[at];
    if (slot.hash == hash &&
        std::string_view(tokens_[static_cast<size_t>(slot.id)]).substr(table.skip) == text) {
      return slot.id;
    }
  }
  return -1;
}

int32_t WordPieceVocabulary::find_longest(const Table& table, std::string_view text,
                                          size_t& length) const {
  int32_t found = -1;
  uint64_t state = kHashStart;
  for (size_t i = 0; i < std::min(text.size(), table.longest); ++i) {
    state = extend(state, text[i]);
    if (const int32_t id = find(table, text.substr(0, i + 1), state); id >= 0) {
      found = id;
      length = i + 1;
    }
  }
  return found;
}

std::optional<int32_t> WordPieceVocabulary::id(std::string_view token) const {
  const int32_t found = find(whole_, token, hash_of(token));
  return found >= 0 ? std::optional(found) : std::nullopt;
}

bool WordPieceVocabulary::append_pieces(std::string_view word, std::vector<int32_t>& ids) const {
  if (const int32_t whole = find(whole_, word, hash_of(word)); whole >= 0) {
    ids.push_back(whole);
    return true;
  }
  const size_t size_before = ids.size();
  const Table* table = &whole_;
  while (!word.empty()) {
    size_t length = 0;
    const int32_t piece = find_longest(*table, word, length);
    if (piece < 0) {
      ids.resize(size_before);
      return false;
    }
    ids.push_back(piece);
    word.remove_prefix(length);
    table = &continuing_;
  }
  return true;
}

}  // namespace libtrain::format
