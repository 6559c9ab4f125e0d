#pragma once

#include <cstdint>

#include "libtrain/core/api.hpp"

namespace libtrain {

/// Skipped steps in a row after which training has diverged. Loss scaling alone can skip 24 times,
/// from its largest scale 2^24 down to 1; what is still not finite then, no scale mends.
inline constexpr int64_t kMaxSkipsInRow = 32;

struct SkipCounter {
  int64_t in_row = 0;
  int64_t total = 0;

  friend bool operator==(const SkipCounter&, const SkipCounter&) = default;
};

/// The counter after a step.
LT_API SkipCounter next(SkipCounter counter, bool skipped);

/// True from the `limit`-th skipped step in a row on. Throws InvalidOption for a limit below 1.
LT_API bool is_stuck(SkipCounter counter, int64_t limit = kMaxSkipsInRow);

}  // namespace libtrain
