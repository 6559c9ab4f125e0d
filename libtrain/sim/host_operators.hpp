#pragma once

namespace libtrain::sim {

/// Books, from now on, what the host's own operators read and write in pinned memory. Once a
/// process.
void watch_host_operators();

/// While one lives, this thread's operators are parts of one that has been booked.
class PartsOfBooked {
 public:
  PartsOfBooked();
  ~PartsOfBooked();
  PartsOfBooked(const PartsOfBooked&) = delete;
  PartsOfBooked& operator=(const PartsOfBooked&) = delete;
};

}  // namespace libtrain::sim
