#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libtrain/core/api.hpp"

namespace libtrain {

/// A shared library that was found while the program ran.
class LT_API DynamicLibrary {
 public:
  virtual ~DynamicLibrary() = default;
  /// The address of an exported function; null where this version of the library has none.
  virtual void* symbol(const char* name) const = 0;
};

struct CpuidRegisters {
  uint32_t eax = 0;
  uint32_t ebx = 0;
  uint32_t ecx = 0;
  uint32_t edx = 0;
};

struct SystemName {
  std::string os;       ///< "Linux"
  std::string kernel;   ///< "6.1.0-18-amd64"
  std::string machine;  ///< "x86_64"
  std::string libc;     ///< "glibc 2.36"; empty when unknown
};

/// All the probe can ask of the world. Tests answer in its place; nothing here throws, and what
/// cannot be answered is empty.
class LT_API Sources {
 public:
  virtual ~Sources() = default;

  /// Contents of a small file, under /proc and /sys for the most part.
  virtual std::optional<std::string> read(const std::string& path) const = 0;
  /// Names in a directory, sorted.
  virtual std::vector<std::string> list(const std::string& path) const = 0;
  /// The path without links.
  virtual std::optional<std::string> resolve(const std::string& path) const = 0;
  /// All that the kernel's log still holds; nothing where this process may not read it.
  virtual std::optional<std::string> kernel_log() const = 0;
  virtual std::map<std::string, std::string> environment() const = 0;

  /// Nothing beyond the highest leaf, and on processors other than x86.
  virtual std::optional<CpuidRegisters> cpuid(uint32_t leaf, uint32_t subleaf) const = 0;
  /// Extended control register 0: which register sets the OS saves. 0 without OSXSAVE.
  virtual uint64_t xcr0() const = 0;

  /// Logical CPUs this process may run on, ascending.
  virtual std::vector<int> affinity() const = 0;
  virtual SystemName system_name() const = 0;
  /// Size of the file system that holds `path`.
  virtual std::optional<int64_t> file_system_bytes(const std::string& path) const = 0;
  /// What an ordinary user may still write there.
  virtual std::optional<int64_t> file_system_free_bytes(const std::string& path) const = 0;
  /// Whether files can be made in the folder `path`.
  virtual std::optional<bool> writable(const std::string& path) const = 0;
  /// The IP addresses of each interface that has any, as text; nothing where they cannot be listed.
  virtual std::optional<std::map<std::string, std::vector<std::string>>> addresses() const = 0;

  /// Null when the library cannot be loaded, which is normal.
  virtual std::shared_ptr<const DynamicLibrary> open_library(const std::string& name) const = 0;
};

}  // namespace libtrain
