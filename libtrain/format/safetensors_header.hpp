#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "libtrain/format/safetensors.hpp"

namespace libtrain::format {

/// A tensor as the header describes it; `begin` and `end` count from the start of the data.
struct HeaderTensor {
  std::string name;
  int64_t offset = 0;  ///< of the name in the file
  DType dtype = DType::kF32;
  std::vector<int64_t> shape;
  int64_t begin = 0;
  int64_t end = 0;
};

struct RawHeader {
  std::vector<HeaderTensor> tensors;
  std::map<std::string, std::string> metadata;
};

/// Reads the header's JSON, which starts at byte 8 of `file`. Shapes and ranges are only integers
/// that are not negative; whether they fit each other and the data is checked by
/// parse_safetensors().
RawHeader parse_safetensors_header(std::string_view json, const std::string& file);

/// Throws BadFile. `detail` gives values and what was expected.
[[noreturn]] void fail_safetensors(const std::string& file, int64_t offset, std::string_view what,
                                   std::string_view detail);

}  // namespace libtrain::format
