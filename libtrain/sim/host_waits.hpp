#pragma once

#include <c10/core/Stream.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "libtrain/core/api.hpp"

namespace libtrain::sim {

/// The host waited for a stream, as a real device would have made it: `aten::_local_scalar_dense`,
/// a blocking copy, a synchronize, an operator whose result's shape depends on values.
struct HostWait {
  std::string op;
  std::string where;  ///< `stream 0 of sim:0`, or `sim:0` for the whole device
  int64_t times = 1;
};

/// Every wait since the process started or `clear_host_waits`, one entry an operator and stream.
LT_API std::vector<HostWait> host_waits();

LT_API void clear_host_waits();

/// While one lives, in any thread, a wait of the host throws DeviceError with the operator's name
/// in place of waiting.
class LT_API NoHostWait {
 public:
  NoHostWait();
  ~NoHostWait();
  NoHostWait(const NoHostWait&) = delete;
  NoHostWait& operator=(const NoHostWait&) = delete;
};

/// Counts a wait that is about to begin. @throws DeviceError within a NoHostWait.
void count_host_wait(std::string_view op, const c10::Stream& stream);
void count_host_wait(std::string_view op, c10::DeviceIndex device);

}  // namespace libtrain::sim
