#include "libtrain/runtime/batch.hpp"

#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/equal.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "libtrain/core/error.hpp"
#include "tests/support/test_device.hpp"

namespace libtrain {
namespace {

using testing::HasSubstr;

at::Tensor numbers(int64_t first, int64_t last) {
  return at::arange(first, last, testing_support::on_device(at::kLong));
}

Batch packed_batch() {
  return Batch::packed(PackedLayout({2, 0, 3, 1}), {{"ids", numbers(0, 6)}},
                       {{"labels", numbers(10, 14)}});
}

TEST(Batch, SplitsEvenlyAndInOrder) {
  const Batch batch = Batch::stacked({{"x", numbers(0, 20).view({10, 2})}, {"y", numbers(0, 10)}});
  const std::vector<Batch> parts = batch.split(4);
  ASSERT_EQ(parts.size(), 4U);
  std::vector<at::Tensor> pieces;
  std::vector<int64_t> sizes;
  int64_t first = 0;
  for (const Batch& part : parts) {
    EXPECT_EQ(part.first_sample(), first);
    first += part.samples();
    sizes.push_back(part.samples());
    pieces.push_back(part.at("y"));
  }
  EXPECT_EQ(sizes, (std::vector<int64_t>{3, 3, 2, 2}));
  EXPECT_TRUE(at::equal(at::cat(pieces), numbers(0, 10)));
}

TEST(Batch, NeverMakesAnEmptyPiece) {
  EXPECT_EQ(Batch::stacked({{"y", numbers(0, 2)}}).split(5).size(), 2U);
}

TEST(Batch, SplitsPackedRowsWithTheirSamples) {
  const std::vector<Batch> parts = packed_batch().split(2);
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_TRUE(at::equal(parts[0].at("ids"), numbers(0, 2)));
  EXPECT_TRUE(at::equal(parts[1].at("ids"), numbers(2, 6)));
  EXPECT_TRUE(at::equal(parts[1].at("labels"), numbers(12, 14)));
  EXPECT_EQ(parts[1].layout()->offsets(), (std::vector<int64_t>{0, 3, 4}));
  EXPECT_EQ(parts[1].first_sample(), 2);
}

TEST(Batch, WeightIsSamplesUnlessSaidOtherwise) {
  Batch batch = packed_batch();
  EXPECT_EQ(batch.weight(), 4.0);
  batch.set_weights({2.0, 0.0, 3.0, 1.0});
  EXPECT_EQ(batch.weight(), 6.0);
  EXPECT_EQ(batch.split(2)[1].weight(), 4.0);
  EXPECT_THROW(batch.set_weights({1.0}), InvalidOption);
  EXPECT_THROW(batch.set_weights({1.0, 1.0, 1.0, -1.0}), InvalidOption);
}

TEST(Batch, RefusesWhatDoesNotFitTogether) {
  EXPECT_THROW(Batch::stacked({}), InvalidOption);
  EXPECT_THROW(Batch::stacked({{"x", numbers(0, 3)}, {"y", numbers(0, 4)}}), InvalidOption);
  EXPECT_THROW(Batch::stacked({{"x", numbers(0, 3)}, {"x", numbers(0, 3)}}), InvalidOption);
  EXPECT_THROW(Batch::stacked({{"x", at::Tensor()}}), InvalidOption);
  EXPECT_THROW(Batch::packed(PackedLayout({2}), {{"ids", numbers(0, 3)}}, {}), InvalidOption);
  EXPECT_THROW(PackedLayout({1, -1}), InvalidOption);
  EXPECT_THROW(Batch::stacked({{"x", numbers(0, 3)}}).layout(), InvalidOption);
}

TEST(Batch, AMissingNameIsAnsweredWithTheNamesThereAre) {
  try {
    packed_batch().at("label");
    FAIL() << "no error";
  } catch (const InvalidOption& error) {
    EXPECT_THAT(error.what(), HasSubstr("\"label\""));
    EXPECT_THAT(error.what(), HasSubstr("ids, labels"));
  }
}

}  // namespace
}  // namespace libtrain
