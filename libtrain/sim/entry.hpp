#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <string>
#include <vector>

namespace libtrain::sim {

/// What was seen since `Entry::start`.
struct Observed {
  std::vector<std::string> races;  ///< one sentence each, with both places
  std::vector<std::string> waits;  ///< `aten::item on stream 0 of sim:0, 3 times`
  int64_t host_waits = 0;
  int64_t peak_bytes = 0;  ///< the most that one device held at once
};

/// What `Runtime` calls of this library. It finds the library by name, so that programs that
/// simulate nothing do not carry it.
struct Entry {
  /// As sim::enable() and sim::set_memory_limit().
  void (*enable)(int devices);
  void (*set_memory_limit)(c10::DeviceIndex device, int64_t bytes);
  /// Forgets what was seen so far.
  void (*start)();
  Observed (*observed)();
  int64_t (*host_waits)();
};

inline constexpr char kEntryName[] = "libtrain_sim_entry";
using FindEntry = const Entry* (*)();

}  // namespace libtrain::sim
