#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libtrain/core/api.hpp"
#include "libtrain/core/file_system.hpp"

namespace libtrain::format {

/// Element types of the safetensors format in its own spelling and order: the order decides where a
/// tensor lies in the file. Left out are its types of less than a byte (F4, F6_*): the safetensors
/// package cannot load them into PyTorch either.
enum class DType {
  kBool,
  kU8,
  kI8,
  kF8E5M2,
  kF8E4M3,
  kF8E8M0,
  kF8E4M3Fnuz,
  kF8E5M2Fnuz,
  kI16,
  kU16,
  kF16,
  kBF16,
  kI32,
  kU32,
  kF32,
  kC64,
  kF64,
  kI64,
  kU64
};
LT_API std::string_view to_text(DType dtype);  ///< "BOOL", "F8_E4M3", "BF16", ...
LT_API std::optional<DType> parse_dtype(std::string_view text);
LT_API int64_t size_of(DType dtype);  ///< bytes an element
/// Bytes of a tensor, 1 element for an empty shape; nothing when a dimension is negative or the
/// product does not fit int64.
LT_API std::optional<int64_t> byte_count(DType dtype, std::span<const int64_t> shape);

struct TensorEntry {
  DType dtype = DType::kF32;
  std::vector<int64_t> shape;
  /// Row-major, little-endian. Points into the file, where nothing promises alignment: copy out
  /// with memcpy.
  std::span<const std::byte> bytes;
};

struct SafetensorsHeader {
  std::map<std::string, TensorEntry> tensors;   ///< by name, in byte order of the names
  std::map<std::string, std::string> metadata;  ///< the `__metadata__` strings
};

/// Reads a safetensors file that lies in memory; `name` stands for the path in messages, the spans
/// point into `bytes`. The whole file is checked: the header's length (at most 100 MB) and JSON
/// (strict, see parse_json; no other keys than the format's), no duplicate names, at most 64
/// dimensions, every range inside the data, sizes equal to shape times element without overflow, no
/// overlap and no byte that belongs to no tensor. Throws BadFile (kContent) that names the tensor
/// and the byte offset.
LT_API SafetensorsHeader parse_safetensors(std::span<const std::byte> bytes,
                                           const std::string& name);

/// A safetensors file mapped into memory and checked by parse_safetensors() when opened. Throws
/// BadFile. The file must not be truncated while this is open; write_safetensors() onto its path is
/// safe, for it replaces the file.
class LT_API SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::string& path);

  const std::map<std::string, TensorEntry>& tensors() const noexcept { return header_.tensors; }
  const std::map<std::string, std::string>& metadata() const noexcept { return header_.metadata; }
  const SafetensorsHeader& header() const noexcept { return header_; }
  const std::string& path() const noexcept { return file_.path(); }

 private:
  MappedFile file_;
  SafetensorsHeader header_;
};

/// Writes atomically (write_file_atomically), byte for byte what the safetensors package 0.8
/// writes: tensors by falling type, then name; the header padded with spaces to 8 bytes; no
/// `__metadata__` when `metadata` is empty, else its keys in byte order (the package's own order is
/// random). Throws InvalidOption, before anything is written, for a tensor named "__metadata__",
/// bytes that do not fit the shape, more than 64 dimensions, invalid UTF-8, or a header above 100
/// MB.
LT_API void write_safetensors(const std::string& path,
                              const std::map<std::string, TensorEntry>& tensors,
                              const std::map<std::string, std::string>& metadata);

/// The first part of such a file: the length of the header in 8 bytes, and the header.
LT_API std::string format_safetensors_header(const std::map<std::string, TensorEntry>& tensors,
                                             const std::map<std::string, std::string>& metadata);

}  // namespace libtrain::format
