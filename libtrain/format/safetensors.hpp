#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libtrain/core/api.hpp"
#include "libtrain/core/file_system.hpp"

namespace libtrain::format {

/// Element types of the safetensors format, in its own spelling.
enum class DType {
  kBool, kU8, kI8, kF8E4M3, kF8E5M2, kI16, kU16, kF16, kBF16, kI32, kU32, kF32, kI64, kU64, kF64, kC64
};
LT_API std::string_view to_text(DType dtype);                      ///< "BOOL", "F8_E4M3", "BF16", ...
LT_API std::optional<DType> parse_dtype(std::string_view text);
LT_API int64_t size_of(DType dtype);                               ///< bytes an element

struct TensorEntry {
  DType dtype = DType::kF32;
  std::vector<int64_t> shape;
  std::span<const std::byte> bytes;  ///< row-major, little-endian; points into the file
};

/// A safetensors file, checked as a whole when opened: header length and JSON strict, no duplicate
/// names, every offset in range, sizes equal to shape times element without overflow, no overlap and
/// no hole. Throws BadFile (kContent) that names the tensor and the offset.
class LT_API SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::string& path);

  /// By name, in byte order of the names.
  const std::map<std::string, TensorEntry>& tensors() const noexcept { return tensors_; }
  /// The `__metadata__` strings.
  const std::map<std::string, std::string>& metadata() const noexcept { return metadata_; }
  const std::string& path() const noexcept { return file_.path(); }

 private:
  MappedFile file_;
  std::map<std::string, TensorEntry> tensors_;
  std::map<std::string, std::string> metadata_;
};

/// The same checks on bytes in memory; `name` stands for the path in messages. Spans point into
/// `bytes`.
struct SafetensorsHeader {
  std::map<std::string, TensorEntry> tensors;
  std::map<std::string, std::string> metadata;
};
LT_API SafetensorsHeader parse_safetensors(std::span<const std::byte> bytes, const std::string& name);

/// Writes atomically (write_file_atomically) in the layout of the safetensors package: tensors ordered
/// by falling alignment, then name; header padded with spaces to 8 bytes. Throws InvalidOption for a
/// name "__metadata__", a byte count that does not fit the shape, or invalid UTF-8.
LT_API void write_safetensors(const std::string& path,
                              const std::map<std::string, TensorEntry>& tensors,
                              const std::map<std::string, std::string>& metadata);

}  // namespace libtrain::format
