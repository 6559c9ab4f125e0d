#include "libtrain/format/wordpiece_text.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace libtrain::format {
namespace {

constexpr uint8_t kDropped = 0xFF;

}  // namespace

/// Strips accents and lowers case of the code points that are put in, and keeps marks in canonical
/// order: those that follow one base are held back until the next base.
class BertNormalizer::Output {
 public:
  Output(const BertNormalizer& normalizer, std::string& out) : normalizer_(normalizer), out_(out) {}

  bool holds_marks() const { return !marks_.empty(); }

  void put(char32_t code) {
    if (!normalizer_.strip_accents_) {
      write(code);
      return;
    }
    std::array<char32_t, 4> parts{};
    const size_t size = decompose(code, parts);
    for (size_t i = 0; i < size; ++i) {
      put_part(parts[i]);
    }
  }

  void finish() {
    for (const auto& [order, code] : marks_) {
      write(code);
    }
    marks_.clear();
  }

 private:
  void put_part(char32_t code) {
    const int order = combining_class(code);
    if (order == 0) {
      finish();
    }
    if (is_nonspacing_mark(code)) {
      return;
    }
    if (order == 0) {
      write(code);
      return;
    }
    const auto behind = [](int value, const auto& mark) { return value < mark.first; };
    marks_.insert(std::upper_bound(marks_.begin(), marks_.end(), order, behind), {order, code});
  }

  void write(char32_t code) {
    if (normalizer_.lowercase_) {
      append_lowercase(out_, code);
    } else {
      append_utf8(out_, code);
    }
  }

  const BertNormalizer& normalizer_;
  std::string& out_;
  std::vector<std::pair<int, char32_t>> marks_;  ///< combining class and mark
};

BertNormalizer::BertNormalizer(const WordPieceOptions& options)
    : clean_text_(options.clean_text),
      handle_chinese_chars_(options.handle_chinese_chars),
      strip_accents_(options.strip_accents.value_or(options.lowercase)),
      lowercase_(options.lowercase) {
  for (size_t index = 0; index < ascii_.size(); ++index) {
    const auto code = static_cast<uint8_t>(index);
    const bool upper = code >= 'A' && code <= 'Z';
    ascii_[code] = upper && lowercase_ ? static_cast<uint8_t>(code - 'A' + 'a') : code;
    if (clean_text_ && is_white_space(code)) {
      ascii_[code] = ' ';
    }
    if (clean_text_ && is_control(code)) {
      ascii_[code] = kDropped;
    }
  }
}

void BertNormalizer::append(std::string_view text, std::string& out) const {
  Output output(*this, out);
  size_t at = 0;
  while (at < text.size()) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte < ascii_.size() && !output.holds_marks()) {
      if (ascii_[byte] != kDropped) {
        out.push_back(static_cast<char>(ascii_[byte]));
      }
      ++at;
      continue;
    }
    const char32_t code = next_code_point(text, at);
    if (clean_text_ && (code == 0xFFFD || is_control(code))) {
      continue;
    }
    if (clean_text_ && is_white_space(code)) {
      output.put(' ');
    } else if (handle_chinese_chars_ && is_chinese(code)) {
      output.put(' ');
      output.put(code);
      output.put(' ');
    } else {
      output.put(code);
    }
  }
  output.finish();
}

}  // namespace libtrain::format
