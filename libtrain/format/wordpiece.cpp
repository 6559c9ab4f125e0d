#include "libtrain/format/wordpiece.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "libtrain/core/require.hpp"
#include "libtrain/format/special_tokens.hpp"
#include "libtrain/format/wordpiece_text.hpp"
#include "libtrain/format/wordpiece_vocabulary.hpp"

namespace libtrain::format {
namespace {

constexpr size_t kNoLimit = std::numeric_limits<size_t>::max();

void require_content(bool condition, const std::string& name, std::string_view what,
                     std::string_view token) {
  if (!condition) {
    throw BadFile(fill("[wordpiece.open] {}: {}: token={}", quote(name), what, quote(token)), name);
  }
}

bool is_longer_than(std::string_view word, size_t characters) {
  return word.size() > characters &&
         static_cast<size_t>(std::count_if(word.begin(), word.end(), [](char c) {
           return (static_cast<unsigned char>(c) & 0xC0U) != 0x80;
         })) > characters;
}

/// Lengths that leave `room` for both: the longer text gives way first, then both are halved, and
/// of an odd room the longer (the second, when equal) has one more.
std::pair<size_t, size_t> truncate_longest_first(size_t first, size_t second, size_t room) {
  if (first + second <= room) {
    return {first, second};
  }
  const size_t shorter = std::min({first, second, room / 2});
  const size_t longer = room - shorter;
  return first > second ? std::pair(longer, shorter) : std::pair(shorter, longer);
}

void append(Encoding& encoding, const std::vector<int32_t>& ids, size_t count, int32_t separator,
            int32_t type_id) {
  encoding.ids.insert(encoding.ids.end(), ids.begin(), ids.begin() + static_cast<int64_t>(count));
  encoding.ids.push_back(separator);
  encoding.type_ids.resize(encoding.ids.size(), type_id);
}

}  // namespace

struct WordPiece::State {
  State(std::vector<std::string> tokens, const WordPieceOptions& options, const std::string& name)
      : vocabulary(std::move(tokens), options.continuing_prefix, name),
        normalizer(options),
        max_characters_per_word(static_cast<size_t>(options.max_characters_per_word)) {
    require(options.max_characters_per_word >= 0,
            "[wordpiece.make] max_characters_per_word={}, expected >= 0",
            options.max_characters_per_word);
    add_tokens(options.added_tokens, name);
    const auto unknown_id = vocabulary.id(options.unknown);
    require_content(unknown_id.has_value(), name, "the vocabulary lacks the unknown token",
                    options.unknown);
    unknown = *unknown_id;
    cls = special_id(options.cls, name);
    sep = special_id(options.sep, name);
  }

  std::optional<int32_t> id(std::string_view token) const {
    const auto added = behind_vocabulary.find(token);
    return added != behind_vocabulary.end() ? added->second : vocabulary.id(token);
  }

  int32_t special_id(const std::string& token, const std::string& name) const {
    const auto found = id(token);
    require_content(found.has_value(), name, "the vocabulary lacks a special token", token);
    return *found;
  }

  void add_tokens(const std::vector<AddedToken>& tokens, const std::string& name) {
    std::vector<SpecialTokens::Pattern> raw;
    std::vector<SpecialTokens::Pattern> normal;
    std::set<std::pair<bool, std::string>> seen;  // as written (false) and in normal form (true)
    for (AddedToken token : tokens) {
      require_content(!find_invalid_utf8(token.text), name, "an added token is not UTF-8",
                      token.text);
      require_content(seen.emplace(false, token.text).second, name, "an added token stands twice",
                      token.text);
      auto token_id = id(token.text);
      if (!token_id) {
        token_id = static_cast<int32_t>(vocabulary.size()) +
                   static_cast<int32_t>(behind_vocabulary.size());
        behind_vocabulary.emplace(token.text, *token_id);
      }
      const std::string text = token.text;
      if (token.normalized) {
        token.text.clear();
        normalizer.append(text, token.text);
        require_content(seen.emplace(true, token.text).second, name,
                        "two added tokens have one normal form", text);
      }
      require_content(!token.text.empty(), name, "an added token is empty", text);
      (token.normalized ? normal : raw).push_back({std::move(token), *token_id});
    }
    added_raw = SpecialTokens(std::move(raw));
    added_normal = SpecialTokens(std::move(normal));
  }

  /// Stops at the end of the word with which there are `limit` ids or more.
  std::vector<int32_t> tokenize(std::string_view text, std::string_view which, size_t limit) const {
    const auto invalid = find_invalid_utf8(text);
    require(!invalid, "[wordpiece.encode] {} is not UTF-8: offset={}, size={}; re-encode it", which,
            invalid.value_or(0), text.size());
    std::vector<int32_t> ids;
    std::string normal;
    const auto on_token = [&](int32_t id) { ids.push_back(id); };
    const auto on_word = [&](std::string_view word) {
      if (is_longer_than(word, max_characters_per_word) || !vocabulary.append_pieces(word, ids)) {
        ids.push_back(unknown);
      }
      return ids.size() < limit;
    };
    const auto on_normal = [&](std::string_view piece) { return for_each_word(piece, on_word); };
    const auto on_raw = [&](std::string_view piece) {
      normal.clear();
      normalizer.append(piece, normal);
      return added_normal.split(normal, on_normal, on_token);
    };
    added_raw.split(text, on_raw, on_token);
    return ids;
  }

  WordPieceVocabulary vocabulary;
  BertNormalizer normalizer;
  size_t max_characters_per_word;
  std::map<std::string, int32_t, std::less<>> behind_vocabulary;
  SpecialTokens added_raw{{}};
  SpecialTokens added_normal{{}};
  int32_t unknown = 0;
  int32_t cls = 0;
  int32_t sep = 0;
};

WordPiece::WordPiece(std::vector<std::string> vocabulary, const WordPieceOptions& options,
                     const std::string& name)
    : state_(std::make_unique<const State>(std::move(vocabulary), options, name)) {}
WordPiece::~WordPiece() = default;
WordPiece::WordPiece(WordPiece&&) noexcept = default;
WordPiece& WordPiece::operator=(WordPiece&&) noexcept = default;

Encoding WordPiece::encode(std::string_view text, int64_t max_length) const {
  require(max_length >= 2,
          "[wordpiece.encode] no room for the special tokens: max_length={}, expected 2 or more",
          max_length);
  const auto limit = static_cast<size_t>(max_length);
  const std::vector<int32_t> ids = state_->tokenize(text, "the text", limit);
  Encoding encoding;
  encoding.ids.push_back(state_->cls);
  append(encoding, ids, std::min(ids.size(), limit - 2), state_->sep, 0);
  return encoding;
}

Encoding WordPiece::encode(std::string_view text, std::string_view second,
                           int64_t max_length) const {
  require(max_length >= 3,
          "[wordpiece.encode] no room for the special tokens: max_length={}, expected 3 or more",
          max_length);
  const auto limit = static_cast<size_t>(max_length);
  // Which of the two gives way depends on their full lengths.
  const std::vector<int32_t> ids = state_->tokenize(text, "the first text", kNoLimit);
  const std::vector<int32_t> second_ids = state_->tokenize(second, "the second text", kNoLimit);
  const auto [count, second_count] =
      truncate_longest_first(ids.size(), second_ids.size(), limit - 3);
  Encoding encoding;
  encoding.ids.push_back(state_->cls);
  append(encoding, ids, count, state_->sep, 0);
  append(encoding, second_ids, second_count, state_->sep, 1);
  return encoding;
}

int64_t WordPiece::size() const noexcept {
  return state_->vocabulary.size() + static_cast<int64_t>(state_->behind_vocabulary.size());
}

std::optional<int32_t> WordPiece::id(std::string_view token) const { return state_->id(token); }

}  // namespace libtrain::format
