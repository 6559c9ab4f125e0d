#include "libtrain/policy/skip_counter.hpp"

#include <gtest/gtest.h>

#include "libtrain/core/error.hpp"
#include "libtrain/policy/loss_scale.hpp"

namespace libtrain {
namespace {

TEST(SkipCounter, CountsSkipsInARow) {
  SkipCounter counter;
  for (const bool skipped : {true, true, false, true}) {
    counter = next(counter, skipped);
  }
  EXPECT_EQ(counter, (SkipCounter{.in_row = 1, .total = 3}));
}

TEST(SkipCounter, IsStuckAtTheLimit) {
  EXPECT_FALSE(is_stuck({.in_row = 2, .total = 9}, 3));
  EXPECT_TRUE(is_stuck({.in_row = 3, .total = 9}, 3));
  EXPECT_TRUE(is_stuck({.in_row = 4, .total = 9}, 3));
  EXPECT_THROW(is_stuck({}, 0), InvalidOption);
}

TEST(SkipCounter, LeavesLossScalingRoomToFindItsScale) {
  const LossScaleOptions options{.initial = LossScaleOptions{}.max_scale};
  LossScale scale{.scale = options.initial};
  SkipCounter counter;
  while (scale.scale > options.min_scale) {
    scale = next(options, scale, true);
    counter = next(counter, true);
    ASSERT_FALSE(is_stuck(counter));
  }
}

}  // namespace
}  // namespace libtrain
