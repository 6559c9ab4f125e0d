#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

namespace libtrain {

/// A limit that was read and is none.
inline constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max();

/// The operating system and what it grants this process. Empty fields are unknown.
struct HostFacts {
  std::optional<std::string> os;      ///< "linux"
  std::optional<std::string> kernel;  ///< "6.1.0-18-amd64"
  std::optional<std::string> libc;    ///< "glibc 2.36"
  std::optional<bool> container;
  std::optional<std::string> container_runtime;  ///< "docker", "kubernetes": probe/container.hpp
  std::optional<bool> wsl;                       ///< Windows Subsystem for Linux
  std::optional<int64_t> memory_bytes;           ///< installed
  std::optional<int64_t> memory_limit_bytes;     ///< smallest cgroup limit of all parents
  std::optional<int64_t> shared_memory_bytes;    ///< size of /dev/shm
  std::optional<bool> virtual_machine;
  std::optional<std::string> hypervisor;       ///< as CPUID names it: "KVMKVMKVM"
  std::optional<int> overcommit_memory;        ///< sysctl vm.overcommit_memory: 2 counts strictly
  std::optional<int64_t> locked_memory_bytes;  ///< RLIMIT_MEMLOCK, soft; kUnlimited
  std::optional<int64_t> open_files;           ///< RLIMIT_NOFILE, soft; kUnlimited
  std::optional<bool> folder_writable;         ///< the working folder

  // What moves between two probes. `fasttrain doctor` reads it; no plan depends on it.
  std::optional<int64_t> memory_available_bytes;  ///< free, or soon: the page cache is given up
  std::optional<int64_t> shared_memory_free_bytes;
  std::optional<int64_t> folder_free_bytes;  ///< of the file system that holds the working folder

  friend bool operator==(const HostFacts&, const HostFacts&) = default;
};

}  // namespace libtrain
