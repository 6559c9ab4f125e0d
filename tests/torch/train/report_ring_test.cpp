#include "libtrain/train/report_ring.hpp"

#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include "libtrain/core/error.hpp"
#include "tests/support/test_device.hpp"

namespace libtrain {
namespace {

using testing_support::test_device;

at::Tensor row(float loss) {
  return at::tensor({1.0F, loss, 2.0F, 0.5F, 8.0F, 0.0F}).to(test_device());
}

TEST(ReportRing, GivesTheNewestAndTheLastRows) {
  ReportRing ring(test_device(), 4);
  EXPECT_FALSE(ring.newest().has_value());
  for (int64_t step = 0; step < 6; ++step) {
    ring.push(step, row(static_cast<float>(step)));
  }
  EXPECT_EQ(ring.newest()->step, 5);
  EXPECT_EQ(ring.wait(3).loss, 3.0);
  EXPECT_TRUE(ring.wait(3).applied);
  EXPECT_EQ(ring.wait(3).loss_scale, 8.0);
  EXPECT_THROW(ring.wait(1), InvalidOption);
  EXPECT_THROW(ring.wait(6), InvalidOption);
}

}  // namespace
}  // namespace libtrain
