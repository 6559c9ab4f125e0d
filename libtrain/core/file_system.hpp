#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "libtrain/core/api.hpp"

namespace libtrain {

/// Whole contents of `path`. Throws BadFile (kInput) when it is missing, a directory, unreadable,
/// or larger than `limit_bytes`.
LT_API std::string read_file(const std::string& path, int64_t limit_bytes = int64_t{1} << 30);

/// Writes a file so that at any moment, kill or full disk included, `path` holds either all of the
/// old or all of the new contents: a temporary file in the same directory, fsync, rename, fsync of
/// the directory. Links are followed, the old file's permissions stay, and writers of one path at
/// the same time do not disturb each other: the last wins. `write` is called with a sink that
/// appends bytes. Throws BadFile (kOutput), also where `path` is a device, pipe or socket; the
/// temporary file is removed and the old contents stay.
using ByteSink = std::function<void(std::span<const std::byte>)>;
LT_API void write_file_atomically(const std::string& path,
                                  const std::function<void(const ByteSink&)>& write);
LT_API void write_file_atomically(const std::string& path, std::string_view contents);

/// Creates `path` and its parents if missing and checks that a file can be made in it.
/// Throws BadFile (kOutput) otherwise.
LT_API void make_writable_directory(const std::string& path);

/// Read-only view of a whole file in memory, pages loaded when touched.
class LT_API MappedFile {
 public:
  /// Throws BadFile (kInput) when the file is missing, a directory or unreadable.
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const noexcept { return bytes_; }
  const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
  std::span<const std::byte> bytes_;
};

}  // namespace libtrain
