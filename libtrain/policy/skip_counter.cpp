#include "libtrain/policy/skip_counter.hpp"

#include "libtrain/core/require.hpp"

namespace libtrain {

SkipCounter next(SkipCounter counter, bool skipped) {
  return skipped ? SkipCounter{.in_row = counter.in_row + 1, .total = counter.total + 1}
                 : SkipCounter{.in_row = 0, .total = counter.total};
}

bool is_stuck(SkipCounter counter, int64_t limit) {
  require(limit >= 1,
          "[skip_counter.check] no step may be skipped: limit={}, expected at least 1; the default "
          "is {}",
          limit, kMaxSkipsInRow);
  return counter.in_row >= limit;
}

}  // namespace libtrain
