#include "libtrain/format/unicode_text.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>

#include "libtrain/format/unicode_tables.hpp"

namespace libtrain::format {
namespace {

template <class Range, size_t n>
const Range* find_range(const Range (&ranges)[n], char32_t code) {
  const Range* found =
      std::lower_bound(std::begin(ranges), std::end(ranges), code,
                       [](const Range& range, char32_t value) { return range.last < value; });
  return found != std::end(ranges) && found->first <= code ? found : nullptr;
}

/// Length of the sequence at the start of `text`, 0 when it is malformed (RFC 3629).
size_t sequence_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  const size_t length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  if (length == 1) {
    return 1;
  }
  if (first < 0xC2 || first > 0xF4 || text.size() < length) {
    return 0;
  }
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) {
      return 0;
    }
  }
  const bool overlong = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xF0 && byte(1) < 0x90);
  const bool surrogate = first == 0xED && byte(1) > 0x9F;
  const bool too_large = first == 0xF4 && byte(1) > 0x8F;
  return overlong || surrogate || too_large ? 0 : length;
}

bool is_newer_than_decompositions(char32_t code) {
  return code > 0xFFFF && find_range(kDecomposesBeyondBmp, code) == nullptr;
}

char32_t lowercase(char32_t code) {
  if (const CaseRange* range = find_range(kNewerCase, code)) {
    return code + static_cast<char32_t>(range->to_lower);
  }
  return static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(code)));
}

}  // namespace

std::optional<size_t> find_invalid_utf8(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    uint64_t eight = 0;
    if (text.size() - at >= sizeof eight) {
      std::memcpy(&eight, text.data() + at, sizeof eight);
      if ((eight & 0x8080808080808080U) == 0) {
        at += sizeof eight;
        continue;
      }
    }
    const size_t length = sequence_length(text.substr(at));
    if (length == 0) {
      return at;
    }
    at += length;
  }
  return std::nullopt;
}

char32_t previous_code_point(std::string_view text, size_t& at) {
  do {
    --at;
  } while ((static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80);
  size_t begin = at;
  return next_code_point(text, begin);
}

void append_utf8(std::string& out, char32_t code) {
  utf8proc_uint8_t bytes[4];
  const auto length = utf8proc_encode_char(static_cast<utf8proc_int32_t>(code), bytes);
  out.append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(length));
}

bool is_white_space(char32_t code) {
  return (code >= 0x09 && code <= 0x0D) || code == ' ' || code == 0x85 || code == 0xA0 ||
         code == 0x1680 || (code >= 0x2000 && code <= 0x200A) || code == 0x2028 || code == 0x2029 ||
         code == 0x202F || code == 0x205F || code == 0x3000;
}

bool is_control(char32_t code) { return find_range(kOther, code) != nullptr; }

bool is_punctuation(char32_t code) {
  if (code < 0x80) {
    return (code >= '!' && code <= '/') || (code >= ':' && code <= '@') ||
           (code >= '[' && code <= '`') || (code >= '{' && code <= '~');
  }
  return find_range(kPunctuation, code) != nullptr;
}

bool is_nonspacing_mark(char32_t code) { return find_range(kNonspacingMark, code) != nullptr; }

bool is_chinese(char32_t code) {
  return code >= 0x3400 &&
         (code <= 0x4DBF || (code >= 0x4E00 && code <= 0x9FFF) ||
          (code >= 0xF900 && code <= 0xFAFF) || (code >= 0x20000 && code <= 0x2A6DF) ||
          (code >= 0x2A700 && code <= 0x2B81F) || (code >= 0x2B920 && code <= 0x2CEAF) ||
          (code >= 0x2F800 && code <= 0x2FA1F));
}

bool is_word_character(char32_t code) {
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(code))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_PC:
      return true;
    case UTF8PROC_CATEGORY_SO:  // Other_Alphabetic: letters in circles and squares
      return (code >= 0x24B6 && code <= 0x24E9) || (code >= 0x1F130 && code <= 0x1F149) ||
             (code >= 0x1F150 && code <= 0x1F169) || (code >= 0x1F170 && code <= 0x1F189);
    default:
      return code == 0x200C || code == 0x200D;
  }
}

void append_lowercase(std::string& out, char32_t code) {
  if (code == 0x130) {
    out.append("i\u0307");
    return;
  }
  append_utf8(out, lowercase(code));
}

size_t decompose(char32_t code, std::array<char32_t, 4>& out) {
  if (is_newer_than_decompositions(code)) {
    out[0] = code;
    return 1;
  }
  std::array<utf8proc_int32_t, 4> parts{};
  int boundary_class = 0;
  const auto size = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(code), parts.data(),
                                            parts.size(), UTF8PROC_DECOMPOSE, &boundary_class);
  std::copy_n(parts.begin(), size, out.begin());
  return static_cast<size_t>(size);
}

int combining_class(char32_t code) {
  if (find_range(kReordered, code) == nullptr && !is_nonspacing_mark(code)) {
    return 0;
  }
  return utf8proc_get_property(static_cast<utf8proc_int32_t>(code))->combining_class;
}

}  // namespace libtrain::format
