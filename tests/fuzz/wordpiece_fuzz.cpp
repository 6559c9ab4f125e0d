#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "libtrain/core/error.hpp"
#include "libtrain/core/text.hpp"
#include "libtrain/format/wordpiece.hpp"

namespace {

using namespace libtrain;
using namespace libtrain::format;

constexpr int64_t kNoLimit = 1 << 20;

void expect(bool condition) {
  if (!condition) {
    std::abort();
  }
}

/// One tokenizer for each setting of the four normalizer options.
const WordPiece& tokenizer(unsigned setting) {
  static const std::vector<WordPiece> all = [] {
    const std::vector<std::string> vocabulary{
        "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a",    "b", "##a", "##b",  "ab", "é",
        "##é",   "e",     "##e",   "東",    "[",      "mask", "]", ".",   "##ᄒ", "ᄒ", "##\u302e"};
    std::vector<WordPiece> made;
    for (unsigned i = 0; i < 16; ++i) {
      WordPieceOptions options;
      options.lowercase = (i & 1U) != 0;
      options.strip_accents = (i & 2U) != 0;
      options.clean_text = (i & 4U) != 0;
      options.handle_chinese_chars = (i & 8U) != 0;
      made.emplace_back(vocabulary, options, "fuzz");
    }
    return made;
  }();
  return all[setting % 16];
}

std::vector<int32_t> content(const WordPiece& with, std::string_view text) {
  const Encoding encoding = with.encode(text, kNoLimit);
  expect(encoding.ids.size() >= 2 && encoding.ids.front() == 2 && encoding.ids.back() == 3);
  return {encoding.ids.begin() + 1, encoding.ids.end() - 1};
}

}  // namespace

/// A space parts any two texts into words of their own; a limit keeps the beginning; only what is
/// not UTF-8 is refused.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) {
    return 0;
  }
  const WordPiece& with = tokenizer(data[0]);
  const std::string_view text(reinterpret_cast<const char*>(data) + 2, size - 2);
  const std::string first(text.substr(0, data[1] % (text.size() + 1)));
  const std::string second(text.substr(first.size()));
  try {
    std::vector<int32_t> both = content(with, first);
    const size_t first_size = both.size();
    const std::vector<int32_t> rest = content(with, second);
    both.insert(both.end(), rest.begin(), rest.end());
    expect(content(with, first + " " + second) == both);
    expect(std::all_of(both.begin(), both.end(),
                       [&](int32_t id) { return id >= 0 && id < with.size(); }));

    const int64_t limit = 3 + data[1] % 16;
    const Encoding cut = with.encode(first, limit);
    expect(cut.ids.size() == std::min<size_t>(first_size + 2, static_cast<size_t>(limit)));
    expect(std::equal(cut.ids.begin() + 1, cut.ids.end() - 1, both.begin()));
    const Encoding pair = with.encode(first, second, limit);
    expect(pair.ids.size() == std::min<size_t>(both.size() + 3, static_cast<size_t>(limit)));
    expect(pair.type_ids.size() == pair.ids.size());
    expect(is_valid_utf8(first) && is_valid_utf8(second));
  } catch (const InvalidOption&) {
    expect(!is_valid_utf8(first) || !is_valid_utf8(second));
  }
  return 0;
}
