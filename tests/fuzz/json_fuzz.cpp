#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "libtrain/core/error.hpp"
#include "libtrain/format/json.hpp"

/// Any text is either refused with an offset inside it or becomes a value whose text reads back to
/// it.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using libtrain::format::parse_json;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const libtrain::format::Json json = parse_json(text, "input");
    if (parse_json(json.dump(), "again") != json) {
      std::abort();
    }
  } catch (const libtrain::BadFile& error) {
    if (error.file() != "input" || error.offset() < 0 ||
        error.offset() > static_cast<int64_t>(size)) {
      std::abort();
    }
  }
  return 0;
}
