#include "libtrain/policy/early_stop.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "libtrain/core/error.hpp"

namespace libtrain {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

EarlyStop after(const EarlyStopOptions& options, const std::vector<double>& metrics) {
  EarlyStop state;
  for (const double metric : metrics) {
    state = next(options, state, metric);
  }
  return state;
}

TEST(EarlyStop, KeepsTheBestOfEitherSense) {
  const EarlyStop lower = after({.better = Better::kLower}, {3.0, 1.0, 2.0});
  EXPECT_EQ(lower, (EarlyStop{.best = 1.0, .best_evaluation = 1, .evaluations = 3}));
  EXPECT_FALSE(is_best(lower));
  const EarlyStop higher = after({.better = Better::kHigher}, {1.0, 2.0, 3.0});
  EXPECT_EQ(higher, (EarlyStop{.best = 3.0, .best_evaluation = 2, .evaluations = 3}));
  EXPECT_TRUE(is_best(higher));
}

TEST(EarlyStop, StopsAfterPatienceWithoutImprovement) {
  const EarlyStopOptions options{.patience = 2};
  EXPECT_FALSE(should_stop(options, {}));
  EXPECT_FALSE(should_stop(options, after(options, {1.0})));
  EXPECT_FALSE(should_stop(options, after(options, {1.0, 1.0})));
  EXPECT_TRUE(should_stop(options, after(options, {1.0, 1.0, 1.5})));
  EXPECT_FALSE(should_stop(options, after(options, {1.0, 1.5, 0.5, 0.5})));
}

TEST(EarlyStop, AsksForMoreThanMinDelta) {
  const EarlyStopOptions lower{.better = Better::kLower, .min_delta = 0.25};
  EXPECT_EQ(after(lower, {1.0, 0.75}).best, 1.0);
  EXPECT_EQ(after(lower, {1.0, 0.5}).best, 0.5);
  const EarlyStopOptions higher{.better = Better::kHigher, .min_delta = 0.25};
  EXPECT_EQ(after(higher, {1.0, 1.25}).best, 1.0);
  EXPECT_EQ(after(higher, {1.0, 1.5}).best, 1.5);
}

TEST(EarlyStop, NeverTakesWhatIsNotFinite) {
  for (const Better better : {Better::kLower, Better::kHigher}) {
    const EarlyStopOptions options{.better = better, .patience = 3};
    const EarlyStop start = after(options, {kNan, kInf, -kInf});
    EXPECT_EQ(start.best, std::nullopt);
    EXPECT_FALSE(is_best(start));
    EXPECT_TRUE(should_stop(options, start));
    EXPECT_EQ(after(options, {kNan, 2.0}).best, 2.0);
    EXPECT_EQ(after(options, {2.0, kNan, kInf, -kInf}).best, 2.0);
  }
}

TEST(EarlyStop, RefusesOptionsThatMakeNoSense) {
  EXPECT_NO_THROW(check(EarlyStopOptions{}));
  EXPECT_THROW(check(EarlyStopOptions{.patience = 0}), InvalidOption);
  EXPECT_THROW(check(EarlyStopOptions{.min_delta = -1.0}), InvalidOption);
  EXPECT_THROW(check(EarlyStopOptions{.min_delta = kNan}), InvalidOption);
  EXPECT_THROW(check(EarlyStopOptions{.min_delta = kInf}), InvalidOption);
}

}  // namespace
}  // namespace libtrain
