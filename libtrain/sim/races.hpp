#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "libtrain/core/api.hpp"

namespace libtrain::sim {

/// What two uses of the same memory that nothing orders can do to each other.
enum class Hazard {
  kReadAfterWrite,   ///< the read may see what was there before the write
  kWriteAfterRead,   ///< the read may see what is written too early: a buffer refilled
  kWriteAfterWrite,  ///< either may be what stays
  kFreedInUse,       ///< freed, and free for others, while a stream may still use it
};

/// One use of memory: `aten::add`, `stream 0 of sim:0` or `the host`, and `Float [4, 8]`.
struct Place {
  std::string op;
  std::string where;
  std::string tensor;
  /// With `record_places`: where the program made it, innermost first; for an operator of backward,
  /// where the forward operator was. Not compared.
  std::vector<std::string> frames;

  bool operator==(const Place& other) const {
    return op == other.op && where == other.where && tensor == other.tensor;
  }
};

/// Two uses that nothing orders: a bug of the program, whatever order they ran in this time.
struct Race {
  Hazard hazard;
  Place earlier;  ///< the one the program came to first
  Place later;
  int64_t times = 1;  ///< how often these same places met

  /// Both places and what would order them, as one sentence, and a line for each of their frames.
  LT_API std::string text() const;
};

/// Every race since the process started or `clear_races`, in the order they were met. No timing is
/// involved: the same program gives the same list.
LT_API std::vector<Race> races();

LT_API void clear_races();

}  // namespace libtrain::sim
