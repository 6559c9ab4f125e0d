#pragma once

#include <unistd.h>

#include <cstdint>
#include <fstream>

namespace libtrain::test {

/// Of this process, now (Linux).
inline int64_t resident_bytes() {
  int64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages >> pages;
  return pages * sysconf(_SC_PAGESIZE);
}

}  // namespace libtrain::test
