#include "libtrain/policy/loss_scale.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "libtrain/core/error.hpp"
#include "libtrain/core/file_system.hpp"
#include "libtrain/core/text.hpp"

namespace libtrain {
namespace {

using testing::HasSubstr;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

// tests/data/make_policy_tables.py writes the table with torch._amp_update_scale_; equal to the
// bit.
TEST(LossScale, FollowsTorch) {
  const std::string table = read_file(LIBTRAIN_TEST_DATA "/data/policy/loss_scales.txt");
  int steps = 0;
  for (const std::string_view line : split(trim(table), '\n')) {
    const std::vector<std::string_view> words = split(line, ' ');
    const LossScaleOptions options{.initial = parse_number(words.at(0)).value(),
                                   .growth_factor = parse_number(words.at(1)).value(),
                                   .backoff_factor = parse_number(words.at(2)).value(),
                                   .growth_interval = parse_integer(words.at(3)).value(),
                                   .min_scale = 1e-30,
                                   .max_scale = std::numeric_limits<float>::max()};
    check(options);
    LossScale scale{.scale = options.initial};
    for (size_t i = 5; i < words.size(); ++i, ++steps) {
      const std::vector<std::string_view> step = split(words[i], ',');
      scale = next(options, scale, step.at(0) == "1");
      ASSERT_EQ(scale.scale, parse_number(step.at(1))) << line.substr(0, 40) << " word " << i;
      ASSERT_EQ(scale.growth_tracker, parse_integer(step.at(2)));
    }
  }
  EXPECT_EQ(steps, 160);
}

TEST(LossScale, StaysBetweenFloorAndCeiling) {
  const LossScaleOptions options{.initial = 4.0, .growth_interval = 1, .max_scale = 10.0};
  LossScale scale{.scale = options.initial};
  scale = next(options, scale, false);
  EXPECT_EQ(scale.scale, 8.0);
  scale = next(options, scale, false);
  EXPECT_EQ(scale.scale, 10.0);
  EXPECT_EQ(next(options, scale, false), (LossScale{.scale = 10.0}));
  for (int i = 0; i < 10; ++i) {
    scale = next(options, scale, true);
  }
  EXPECT_EQ(scale.scale, 1.0);
}

TEST(LossScale, GrowsAlsoFromATrackerPastTheInterval) {
  // As after resuming with a shorter interval.
  const LossScaleOptions options{.growth_interval = 10};
  EXPECT_EQ(next(options, {.scale = 8.0, .growth_tracker = 50}, false), (LossScale{.scale = 16.0}));
}

std::string message_of(const LossScaleOptions& options) {
  try {
    check(options);
  } catch (const InvalidOption& error) {
    return error.what();
  }
  return "no error";
}

TEST(LossScale, RefusesOptionsThatMakeNoSense) {
  EXPECT_EQ(message_of({}), "no error");
  for (const double bad : {0.0, -1.0, kNan, kInf, 1e39}) {
    EXPECT_THAT(message_of({.initial = bad}), HasSubstr("scales out of order")) << bad;
  }
  EXPECT_THAT(message_of({.initial = 0.5}), HasSubstr("min_scale=1, initial=0.5"));
  EXPECT_THAT(message_of({.initial = 2e7}), HasSubstr("scales out of order"));
  for (const double bad : {0.0, -1.0, kNan}) {
    EXPECT_THAT(message_of({.min_scale = bad}), HasSubstr("scales out of order")) << bad;
  }
  for (const double bad : {kNan, kInf, 1e39}) {
    EXPECT_THAT(message_of({.max_scale = bad}), HasSubstr("scales out of order")) << bad;
  }
  for (const double bad : {1.0, 0.5, 0.0, -2.0, kNan, kInf}) {
    EXPECT_THAT(message_of({.growth_factor = bad}), HasSubstr("growth_factor=")) << bad;
  }
  for (const double bad : {1.0, 2.0, 0.0, -0.5, kNan}) {
    EXPECT_THAT(message_of({.backoff_factor = bad}), HasSubstr("backoff_factor=")) << bad;
  }
  for (const int64_t bad : {0, -1}) {
    EXPECT_THAT(message_of({.growth_interval = bad}), HasSubstr("growth_interval=")) << bad;
  }
}

}  // namespace
}  // namespace libtrain
