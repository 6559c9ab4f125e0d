#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "libtrain/core/error.hpp"
#include "libtrain/format/tsv.hpp"

/// Any text is either refused with an offset inside it or gives rows that, written out, read back.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using libtrain::format::parse_tsv;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    std::string again = "\xEF\xBB\xBF";  // a label may start with one too
    const auto rows = parse_tsv(text, "input");
    for (const auto& row : rows) {
      again += row.label + '\t' + row.text + (row.second ? '\t' + *row.second : "") + "\r\n";
    }
    const auto read = parse_tsv(again, "again");
    if (read.size() != rows.size()) {
      std::abort();
    }
    for (size_t i = 0; i < rows.size(); ++i) {
      if (read[i].label != rows[i].label || read[i].text != rows[i].text ||
          read[i].second != rows[i].second) {
        std::abort();
      }
    }
  } catch (const libtrain::BadFile& error) {
    if (error.file() != "input" || error.offset() < 0 ||
        error.offset() > static_cast<int64_t>(size)) {
      std::abort();
    }
  }
  return 0;
}
