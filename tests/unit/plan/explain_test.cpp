#include "libtrain/plan/explain.hpp"

#include <gmock/gmock.h>

#include "libtrain/core/text.hpp"
#include "libtrain/plan/make_plan.hpp"
#include "tests/unit/plan/example_machines.hpp"

namespace libtrain {
namespace {

using testing::HasSubstr;

PlanRow row_of(const Plan& plan, std::string_view key) {
  for (const PlanRow& row : plan_rows(plan)) {
    if (row.key == key) {
      return row;
    }
  }
  ADD_FAILURE() << "no row " << key;
  return {};
}

TEST(Explain, RowsWithoutAModelArePending) {
  const PlanRow row = row_of(make_plan({}, examples::cpu_machine()), "memory_format");
  EXPECT_EQ(row.value, "pending: needs a model");
  EXPECT_EQ(row.source, "");
}

TEST(Explain, RowsTellValueSourceScopeAndReason) {
  const Plan plan = make_plan({}, examples::cpu_machine());
  const PlanRow allocator = row_of(plan, "allocator");
  EXPECT_EQ(allocator.value, "glibc_thresholds");
  EXPECT_EQ(allocator.source, "facts");
  EXPECT_EQ(allocator.scope, "process");
  EXPECT_EQ(allocator.reason, plan.allocator.reason);
  EXPECT_EQ(row_of(plan, "threads").scope, "scoped");
  EXPECT_EQ(row_of(plan, "loss_scaling").value, "off");
  EXPECT_EQ(row_of(plan, "global_batch").value, "as given");
}

TEST(Explain, WrapsReasonsAtTheWidth) {
  Plan plan;
  plan.device.reason = "several words that will have to go on more than one line of the table";
  for (const int width : {90, 100, 120}) {
    const std::string text = explain(plan, width);
    for (const std::string_view line : split(text, '\n')) {
      EXPECT_LE(line.size(), static_cast<size_t>(width)) << line;
      EXPECT_FALSE(line.ends_with(' ')) << line;
    }
  }
  EXPECT_THAT(explain(plan, 100), HasSubstr("device           cpu"));
}

TEST(Explain, KeepsEveryWordAtAnyWidth) {
  Plan plan;
  plan.device.reason = "first " + std::string(300, 'x') + " last \xc3\xa4\xc3\xb6";
  for (const int width : {-5, 0, 1, 40}) {
    const std::string text = explain(plan, width);
    EXPECT_THAT(text, HasSubstr(std::string(300, 'x')));
    EXPECT_THAT(text, HasSubstr("\xc3\xa4\xc3\xb6"));
  }
}

}  // namespace
}  // namespace libtrain
