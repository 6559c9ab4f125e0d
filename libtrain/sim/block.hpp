#pragma once

#include <c10/core/ScalarType.h>
#include <c10/util/DimVector.h>

#include <memory>
#include <string_view>
#include <vector>

#include "libtrain/sim/clock.hpp"
#include "libtrain/sim/places.hpp"

namespace libtrain::sim {

/// One use of a block, from byte `begin` to before byte `end`: everything between a view's first
/// and last element. The name is the dispatcher's or a literal, so it outlives the use.
struct Access {
  std::string_view op;
  Lane lane;
  uint64_t tick;
  bool write;
  int64_t begin;
  int64_t end;
  c10::ScalarType dtype;
  c10::DimVector sizes;
  std::shared_ptr<const Frames> frames;  ///< null unless places are recorded

  bool overlaps(const Access& other) const { return begin < other.end && other.begin < end; }
  bool within(const Access& other) const { return other.begin <= begin && end <= other.end; }
};

/// What the ledger knows of one allocation: of a device, or pinned.
struct Block {
  /// The stream that allocated it, in whose order its memory is used again; the host for pinned
  /// memory.
  Lane home = kHostLane;
  std::vector<Lane> recorded_streams;
  /// The uses that a later one may still have to be ordered after.
  std::vector<Access> accesses;
};

}  // namespace libtrain::sim
