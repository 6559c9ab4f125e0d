#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace libtrain {

/// The operating system and what it grants this process. Empty fields are unknown.
struct HostFacts {
  std::optional<std::string> os;      ///< "linux"
  std::optional<std::string> kernel;  ///< "6.1.0-18-amd64"
  std::optional<std::string> libc;    ///< "glibc 2.36"
  std::optional<bool> container;
  std::optional<bool> wsl;                     ///< Windows Subsystem for Linux
  std::optional<int64_t> memory_bytes;         ///< installed
  std::optional<int64_t> memory_limit_bytes;   ///< smallest cgroup limit of all parents
  std::optional<int64_t> shared_memory_bytes;  ///< size of /dev/shm

  friend bool operator==(const HostFacts&, const HostFacts&) = default;
};

}  // namespace libtrain
