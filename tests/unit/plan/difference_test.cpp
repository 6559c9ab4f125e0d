#include "libtrain/plan/explain.hpp"

#include <gtest/gtest.h>

namespace libtrain {
namespace {

Plan some_plan() {
  Plan plan;
  plan.threads = {8, Source::kFacts, "8 physical cores"};
  return plan;
}

TEST(Difference, ShowsBothValuesAndWhy) {
  Plan other = some_plan();
  other.threads = {12, Source::kFacts, "12 physical cores in the affinity mask"};
  EXPECT_EQ(describe_difference(some_plan(), "a", other, "other", 40),
            "threads\n"
            "  a      8: 8 physical cores\n"
            "  other  12: 12 physical cores in the\n"
            "         affinity mask\n");
}

TEST(Difference, OtherReasonsForTheSameValueAreNone) {
  Plan other = some_plan();
  other.threads.reason = "a cpuset";
  EXPECT_EQ(describe_difference(some_plan(), "a", other, "b"), "no difference\n");
}

}  // namespace
}  // namespace libtrain
