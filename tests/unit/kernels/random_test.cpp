#include "libtrain/kernels/random.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "libtrain/kernels/table.hpp"

namespace libtrain::kernels {
namespace {

using Counter = std::array<uint32_t, 4>;

/// Random123, tests/kat_vectors, "philox4x32 10".
TEST(PhiloxTest, GivesTheKnownAnswersOfItsAuthors) {
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}),
            (Counter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32({~0U, ~0U, ~0U, ~0U}, {~0U, ~0U}),
            (Counter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Counter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(DropoutThresholdTest, IsTheShareOfAllNumbersRoundedToNearest) {
  EXPECT_EQ(dropout_threshold(0.0), 0U);
  EXPECT_EQ(dropout_threshold(0.1), 429496730U);
  EXPECT_EQ(dropout_threshold(0.5), uint64_t{1} << 31);
  EXPECT_EQ(dropout_threshold(1.0), uint64_t{1} << 32);
}

/// The rows `| element | number | kept |` of docs/random.md's worked example.
TEST(RandomPageTest, WorkedExampleIsWhatTheKernelsDo) {
  const RandomStream stream{.seed = 0x100000007, .step = 1000, .site = 3, .sample = 42};
  std::ifstream page(LIBTRAIN_TEST_DATA "/../docs/random.md");
  ASSERT_TRUE(page) << "docs/random.md is missing";
  int rows = 0;
  for (std::string line; std::getline(page, line);) {
    long long element = 0;
    unsigned number = 0;
    char kept[8] = {};
    if (std::sscanf(line.c_str(), "| %lld | 0x%x | %7s |", &element, &number, kept) != 3) {
      continue;
    }
    ++rows;
    const auto words = philox4x32(
        {static_cast<uint32_t>(element / 4), stream.sample, stream.site, stream.step}, {7, 1});
    EXPECT_EQ(words[static_cast<size_t>(element % 4)], number) << "element " << element;
    const float in = 2.0F;
    float out = -1.0F;
    table().dropout_f32(&in, &out,
                        {.stream = stream, .first = element, .count = 1, .probability = 0.25});
    EXPECT_EQ(out != 0.0F, std::string(kept) == "yes") << "element " << element;
    EXPECT_TRUE(out == 0.0F || out == 2.0F * static_cast<float>(1 / 0.75));
  }
  EXPECT_GE(rows, 6) << "docs/random.md has lost its worked example";
}

}  // namespace
}  // namespace libtrain::kernels
