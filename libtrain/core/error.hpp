#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "libtrain/core/api.hpp"

namespace libtrain {

/// Root of everything this library throws. A message reads
/// `[area.verb] what is wrong: name=value, expected ...; what to do`.
class LT_API Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A value the caller or the environment gave is outside what is allowed (Python: ValueError).
class LT_API InvalidOption : public Error {
 public:
  using Error::Error;
};

/// The request is meaningful but this build, device or version cannot do it (NotImplementedError).
class LT_API Unsupported : public Error {
 public:
  using Error::Error;
};

/// A device refused an operation (Python: RuntimeError).
class LT_API DeviceError : public Error {
 public:
  using Error::Error;
};

/// A fault of this library: please report it.
class LT_API InternalError : public Error {
 public:
  using Error::Error;
};

/// Memory did not suffice (Python: MemoryError). Sizes in bytes, 0 where unknown.
class LT_API OutOfMemory : public Error {
 public:
  OutOfMemory(const std::string& message, int64_t estimated_bytes, int64_t available_bytes)
      : Error(message), estimated_bytes_(estimated_bytes), available_bytes_(available_bytes) {}

  int64_t estimated_bytes() const noexcept { return estimated_bytes_; }
  int64_t available_bytes() const noexcept { return available_bytes_; }

 private:
  int64_t estimated_bytes_;
  int64_t available_bytes_;
};

/// What about a file is wrong; decides a program's exit code.
enum class FileFault {
  kContent,  ///< the bytes are not what the format demands (exit 65)
  kInput,    ///< it cannot be opened or read (exit 74)
  kOutput,   ///< it cannot be created or written (exit 74)
};

/// A file cannot be used (Python: OSError). `offset` is a byte position, -1 where none applies.
class LT_API BadFile : public Error {
 public:
  BadFile(const std::string& message, std::string file, int64_t offset = -1,
          FileFault fault = FileFault::kContent)
      : Error(message), file_(std::move(file)), offset_(offset), fault_(fault) {}

  const std::string& file() const noexcept { return file_; }
  int64_t offset() const noexcept { return offset_; }
  FileFault fault() const noexcept { return fault_; }

 private:
  std::string file_;
  int64_t offset_;
  FileFault fault_;
};

}  // namespace libtrain
