#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "libtrain/core/error.hpp"
#include "libtrain/format/wordpiece.hpp"

/// Any tokenizer.json is refused with its name, or makes a tokenizer whose ids are all below its
/// size.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::string folder =
      std::filesystem::temp_directory_path() / ("wordpiece_fuzz_" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  std::ofstream(folder + "/tokenizer.json", std::ios::binary)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  try {
    const auto tokenizer = libtrain::format::WordPiece::from_directory(folder);
    for (const int32_t id : tokenizer.encode("Unaffable [MASK] cafés, 東京 12", "é", 64).ids) {
      if (id < 0 || id >= tokenizer.size()) {
        std::abort();
      }
    }
  } catch (const libtrain::BadFile& error) {
    if (error.file() != folder + "/tokenizer.json") {
      std::abort();
    }
  } catch (const libtrain::Unsupported&) {
  }
  return 0;
}
