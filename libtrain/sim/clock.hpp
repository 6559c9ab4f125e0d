#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace libtrain::sim {

/// The host or one stream: what runs in the order it was given. 0 is the host.
using Lane = size_t;
inline constexpr Lane kHostLane = 0;

/// What a lane or an event knows to be done: of each lane, the number of its last such operation.
/// (Mattern, "Virtual Time and Global States of Distributed Systems", 1989.)
class VectorClock {
 public:
  bool covers(Lane lane, uint64_t tick) const {
    return lane < ticks_.size() && ticks_[lane] >= tick;
  }

  /// One more operation of `lane`, whose own clock this is; returns its number, from 1.
  uint64_t advance(Lane lane) {
    grow(lane + 1);
    return ++ticks_[lane];
  }

  /// Knows from now on what `other` knows.
  void join(const VectorClock& other) {
    grow(other.ticks_.size());
    for (size_t i = 0; i < other.ticks_.size(); ++i) {
      ticks_[i] = std::max(ticks_[i], other.ticks_[i]);
    }
  }

 private:
  void grow(size_t lanes) {
    if (ticks_.size() < lanes) {
      ticks_.resize(lanes, 0);
    }
  }

  std::vector<uint64_t> ticks_;
};

}  // namespace libtrain::sim
