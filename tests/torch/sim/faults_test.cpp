#include "libtrain/sim/faults.hpp"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "libtrain/core/error.hpp"
#include "libtrain/sim/sim.hpp"
#include "sim_support.hpp"

namespace libtrain::sim {
namespace {

using test::same_bits;

class Faults : public testing::Test {
 protected:
  ~Faults() override { clear_faults(); }

  static auto throws_device_error(const std::string& words) {
    return testing::ThrowsMessage<DeviceError>(testing::HasSubstr(words));
  }

  at::Tensor x = at::ones({2, 2}, device());
  at::Tensor elsewhere = at::ones({2, 2}, device(1));
};

TEST_F(Faults, DeviceErrorComesAtTheNthOperatorAndStays) {
  fail_at(FaultPoint::kOperator, 3, Fault::kDeviceError);
  at::mm(x, x);
  x.cpu();
  at::mm(x, x);
  EXPECT_THAT([&] { at::relu(x); },
              throws_device_error("aten::relu on sim:0 failed: the device is lost since"));
  const std::string since = "the device is lost since aten::relu";
  EXPECT_THAT([&] { at::mm(x, x); }, throws_device_error("aten::mm on sim:0 failed: " + since));
  EXPECT_THAT([&] { x.cpu(); }, throws_device_error("aten::copy_ on sim:0 failed: " + since));
  EXPECT_THAT([&] { x[0][0].item<float>(); }, throws_device_error(since));
  EXPECT_THAT([&] { at::empty({1}, device()); }, throws_device_error(since));
  EXPECT_THAT([&] { test::synchronize(test::default_stream()); }, throws_device_error(since));
  EXPECT_THAT(
      [&] {
        c10::Event event(c10::DeviceType::PrivateUse1);
        event.record(test::default_stream());
        event.synchronize();
      },
      throws_device_error(since));
  EXPECT_THAT([&] { test::start_afresh(); }, throws_device_error("device synchronize"));
  EXPECT_TRUE(same_bits(at::full({2, 2}, 2.0), at::mm(elsewhere, elsewhere)));
  clear_faults();
  EXPECT_TRUE(same_bits(at::full({2, 2}, 2.0), at::mm(x, x)));
}

TEST_F(Faults, OutOfMemoryComesOnce) {
  fail_at(FaultPoint::kAllocation, 2, Fault::kOutOfMemory, 1);
  at::empty({1}, device());
  at::empty({1}, device());
  at::empty({1}, device(1));
  EXPECT_THAT([] { at::empty({1}, device(1)); },
              testing::ThrowsMessage<c10::OutOfMemoryError>(
                  testing::HasSubstr("allocation on sim:1 is out of memory")));
  at::empty({1}, device(1));
  fail_at(FaultPoint::kOperator, 1, Fault::kOutOfMemory);
  EXPECT_THROW(x.add_(1.0), c10::OutOfMemoryError);
  EXPECT_TRUE(same_bits(at::ones({2, 2}), x));
}

TEST_F(Faults, CopiesAreCountedByThemselves) {
  fail_at(FaultPoint::kCopy, 2, Fault::kDeviceError);
  at::mm(x, x);
  x.cpu();
  at::mm(x, x);
  EXPECT_THAT([&] { x.clone(); }, throws_device_error("aten::copy_ on sim:0 failed"));
}

TEST_F(Faults, NotFiniteResultsOfOneOperator) {
  fail_at(FaultPoint::kOperator, 2, Fault::kNotFinite);
  EXPECT_FALSE(at::isnan(at::relu(x)).any().item<bool>());
  fail_at(FaultPoint::kOperator, 1, Fault::kNotFinite);
  const at::Tensor nan = at::relu(x);
  EXPECT_TRUE(at::isnan(nan).all().item<bool>());
  EXPECT_FALSE(at::isnan(at::relu(x)).any().item<bool>());

  fail_at(FaultPoint::kOperator, 1, Fault::kNotFinite);
  x.relu_();
  EXPECT_TRUE(at::isnan(x).all().item<bool>());
  const at::Tensor written = at::ones({3}, device());
  fail_at(FaultPoint::kOperator, 1, Fault::kNotFinite);
  at::_foreach_add_({written}, 1.0);
  EXPECT_TRUE(at::isnan(written).all().item<bool>());
  const at::Tensor numbers = at::arange(3, device());
  fail_at(FaultPoint::kOperator, 1, Fault::kNotFinite);
  EXPECT_EQ(2, numbers.argmax().item<int64_t>());
}

TEST_F(Faults, NotFiniteCopies) {
  fail_at(FaultPoint::kCopy, 1, Fault::kNotFinite);
  EXPECT_TRUE(at::isnan(x.cpu()).all().item<bool>());
  EXPECT_FALSE(at::isnan(x.cpu()).any().item<bool>());
  fail_at(FaultPoint::kCopy, 1, Fault::kNotFinite);
  EXPECT_TRUE(at::isnan(at::ones({2}).to(device())).all().item<bool>());
}

TEST_F(Faults, ComeThroughBackward) {
  const at::Tensor weight = at::ones({2, 2}, device()).requires_grad_();
  const at::Tensor loss = at::mm(x, weight).sum();
  fail_at(FaultPoint::kOperator, 1, Fault::kDeviceError);
  EXPECT_THAT([&] { loss.backward(); }, throws_device_error("the device is lost"));
}

TEST_F(Faults, RefusePlansThatMeanNothing) {
  EXPECT_THROW(fail_at(FaultPoint::kOperator, 0, Fault::kDeviceError), InvalidOption);
  EXPECT_THROW(fail_at(FaultPoint::kOperator, 1, Fault::kDeviceError, 2), InvalidOption);
  EXPECT_THROW(fail_at(FaultPoint::kAllocation, 1, Fault::kNotFinite), InvalidOption);
}

}  // namespace
}  // namespace libtrain::sim
