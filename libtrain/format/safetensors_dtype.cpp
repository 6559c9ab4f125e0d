#include <array>

#include "libtrain/format/safetensors.hpp"

namespace libtrain::format {
namespace {

struct DTypeRow {
  std::string_view text;
  int64_t bytes;
};

constexpr std::array<DTypeRow, 19> kRows = {{{"BOOL", 1},
                                             {"U8", 1},
                                             {"I8", 1},
                                             {"F8_E5M2", 1},
                                             {"F8_E4M3", 1},
                                             {"F8_E8M0", 1},
                                             {"F8_E4M3FNUZ", 1},
                                             {"F8_E5M2FNUZ", 1},
                                             {"I16", 2},
                                             {"U16", 2},
                                             {"F16", 2},
                                             {"BF16", 2},
                                             {"I32", 4},
                                             {"U32", 4},
                                             {"F32", 4},
                                             {"C64", 8},
                                             {"F64", 8},
                                             {"I64", 8},
                                             {"U64", 8}}};
static_assert(static_cast<size_t>(DType::kU64) + 1 == kRows.size());

const DTypeRow& row(DType dtype) { return kRows.at(static_cast<size_t>(dtype)); }

}  // namespace

std::string_view to_text(DType dtype) { return row(dtype).text; }

std::optional<DType> parse_dtype(std::string_view text) {
  for (size_t i = 0; i < kRows.size(); ++i) {
    if (kRows[i].text == text) {
      return static_cast<DType>(i);
    }
  }
  return std::nullopt;
}

int64_t size_of(DType dtype) { return row(dtype).bytes; }

std::optional<int64_t> byte_count(DType dtype, std::span<const int64_t> shape) {
  int64_t elements = 1;
  for (const int64_t dimension : shape) {
    if (dimension < 0 || __builtin_mul_overflow(elements, dimension, &elements)) {
      return std::nullopt;
    }
  }
  int64_t bytes = 0;
  if (__builtin_mul_overflow(elements, size_of(dtype), &bytes)) {
    return std::nullopt;
  }
  return bytes;
}

}  // namespace libtrain::format
