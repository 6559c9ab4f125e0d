#include "libtrain/runtime/packed.hpp"

#include <gtest/gtest.h>

#include <set>

namespace libtrain {
namespace {

PackedLayoutPtr layout_of(const std::vector<int64_t>& lengths) {
  return std::make_shared<const PackedLayout>(lengths);
}

TEST(WithFiller, KeepsTheSamplesAndAddsShortOnes) {
  const PackedLayoutPtr layout = layout_of({20, 0, 30, 18});  // 68 rows: the unit is 8
  const PackedLayoutPtr filled = with_filler(layout);
  EXPECT_EQ(filled->offsets(), (std::vector<int64_t>{0, 20, 20, 50, 68, 72}));
}

TEST(WithFiller, LeavesALayoutThatNeedsNoneAsItIs) {
  for (const std::vector<int64_t>& lengths :
       std::vector<std::vector<int64_t>>{{}, {0, 0}, {1}, {7}, {40, 24}, {448}}) {
    const PackedLayoutPtr layout = layout_of(lengths);
    EXPECT_EQ(with_filler(layout), layout);
  }
}

TEST(WithFiller, GivesEightNumbersOfRowsADoublingAndAtMostAnEighthMore) {
  std::set<int64_t> numbers;
  for (int64_t rows = 512; rows < 1024; ++rows) {
    const int64_t filled = with_filler(layout_of({rows}))->rows();
    EXPECT_GE(filled, rows);
    EXPECT_LE(filled, rows + rows / 8);
    numbers.insert(filled);
  }
  EXPECT_EQ(numbers, (std::set<int64_t>{512, 576, 640, 704, 768, 832, 896, 960, 1024}));
}

TEST(WithFiller, NoFillerIsLongerThanTheLongestSampleOrSixteenRows) {
  const PackedLayoutPtr one_row_each = with_filler(layout_of(std::vector<int64_t>(33, 1)));
  EXPECT_EQ(one_row_each->longest(), 1);
  EXPECT_EQ(one_row_each->rows(), 36);
  const PackedLayoutPtr long_ones = with_filler(layout_of({300, 300}));
  EXPECT_EQ(long_ones->rows(), 640);
  for (int64_t sample = 2; sample < long_ones->samples(); ++sample) {
    EXPECT_LE(long_ones->length(sample), 16);
  }
}

}  // namespace
}  // namespace libtrain
