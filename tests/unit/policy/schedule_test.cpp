#include "libtrain/policy/schedule.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "libtrain/core/error.hpp"
#include "libtrain/core/file_system.hpp"
#include "libtrain/core/text.hpp"

namespace libtrain {
namespace {

using testing::HasSubstr;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Schedule schedule_of(const std::vector<std::string_view>& words) {
  const auto integer = [&](size_t i) { return parse_integer(words.at(i)).value(); };
  const auto number = [&](size_t i) { return parse_number(words.at(i)).value(); };
  if (words.at(0) == "constant") {
    return constant(integer(1));
  }
  if (words.at(0) == "linear") {
    return linear_warmup(integer(1), integer(2));
  }
  if (words.at(0) == "cosine") {
    return cosine(integer(1), integer(2), number(3), number(4));
  }
  if (words.at(0) == "inverse_sqrt") {
    return integer(2) == 0 ? inverse_sqrt(integer(1)) : inverse_sqrt(integer(1), integer(2));
  }
  return one_cycle(integer(1), number(2), number(3), number(4));
}

// tests/data/make_policy_tables.py writes the table with transformers and torch. Both sides compute
// in double with the same formulas: what is left is the order of a few roundings.
TEST(Schedule, EqualsTransformersAndTorch) {
  const std::string table = read_file(LIBTRAIN_TEST_DATA "/data/policy/schedules.txt");
  int lines = 0;
  for (const std::string_view line : split(trim(table), '\n')) {
    const size_t colon = line.find(" : ");
    const Schedule schedule = schedule_of(split(line.substr(0, colon), ' '));
    int64_t step = 0;
    for (const std::string_view value : split(line.substr(colon + 3), ' ')) {
      EXPECT_NEAR(factor(schedule, step), parse_number(value).value(), 1e-12)
          << line.substr(0, colon) << " at step " << step;
      ++step;
    }
    ++lines;
  }
  EXPECT_EQ(lines, 38);
}

TEST(Schedule, KeepsItsLastValuePastTheEnd) {
  for (const Schedule& schedule : {linear_warmup(2, 10), cosine(2, 10), cosine(2, 10, 0.5, 0.1)}) {
    EXPECT_EQ(factor(schedule, 11), factor(schedule, 10));
    EXPECT_EQ(factor(schedule, INT64_MAX), factor(schedule, 10));
  }
  EXPECT_EQ(factor(linear_warmup(2, 10), 11), 0.0);
  EXPECT_EQ(factor(one_cycle(10), 10), factor(one_cycle(10), 9));
  EXPECT_EQ(factor(constant(3), INT64_MAX), 1.0);
}

TEST(Schedule, IsFiniteAtItsSmallest) {
  // OneCycleLR divides by zero where its rising phase is exactly one step long.
  EXPECT_EQ(factor(one_cycle(10, 0.1), 0), 1.0);
  EXPECT_TRUE(std::isfinite(factor(one_cycle(1, 1.0), 0)));
  EXPECT_EQ(factor(linear_warmup(0, 1), 0), 1.0);
  EXPECT_EQ(factor(cosine(0, 1), 0), 1.0);
  EXPECT_EQ(factor(Schedule{.kind = ScheduleKind::kLinear}, 0), 0.0);
}

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const InvalidOption& error) {
    return error.what();
  }
  return "no error";
}

TEST(Schedule, RefusesValuesThatMakeNoSense) {
  EXPECT_THAT(message_of([] { constant(-1); }), HasSubstr("warmup_steps=-1"));
  EXPECT_THAT(message_of([] { linear_warmup(0, 0); }), HasSubstr("total_steps=0"));
  EXPECT_THAT(message_of([] { linear_warmup(11, 10); }),
              HasSubstr("warmup_steps=11, total_steps=10"));
  EXPECT_THAT(message_of([] { cosine(11, 10); }), HasSubstr("[schedule.cosine] warm-up is longer"));
  EXPECT_THAT(message_of([] { cosine(0, 10, 0.0); }), HasSubstr("cycles=0"));
  EXPECT_THAT(message_of([] { cosine(0, 10, kNan); }), HasSubstr("cycles=nan"));
  EXPECT_THAT(message_of([] { cosine(0, 10, 0.5, 1.5); }),
              HasSubstr("min_ratio=1.5, expected 0 to 1"));
  EXPECT_THAT(message_of([] { cosine(0, 10, 0.5, kNan); }), HasSubstr("min_ratio=nan"));
  EXPECT_THAT(message_of([] { inverse_sqrt(-1); }), HasSubstr("warmup_steps=-1"));
  EXPECT_THAT(message_of([] { inverse_sqrt(1, 0); }), HasSubstr("timescale=0"));
  EXPECT_THAT(message_of([] { one_cycle(0); }), HasSubstr("total_steps=0"));
  EXPECT_THAT(message_of([] { one_cycle(10, -0.1); }), HasSubstr("rising_fraction=-0.1"));
  EXPECT_THAT(message_of([] { one_cycle(10, 0.3, 0.0); }), HasSubstr("div_factor=0"));
  EXPECT_THAT(message_of([] { one_cycle(10, 0.3, 25.0, HUGE_VAL); }),
              HasSubstr("final_div_factor=inf"));
  EXPECT_THAT(message_of([] { factor(constant(), -1); }), HasSubstr("applied_steps=-1"));
}

}  // namespace
}  // namespace libtrain
