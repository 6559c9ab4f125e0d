#include "libtrain/sim/host_waits.hpp"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <gtest/gtest.h>

#include <functional>

#include "libtrain/core/error.hpp"
#include "libtrain/sim/sim.hpp"
#include "sim_support.hpp"

namespace libtrain::sim {
namespace {

struct Waiting {
  const char* name;
  const char* op;
  std::function<void(const at::Tensor& x)> run;  // x: float [4] on the device
};

const std::vector<Waiting> kWaiting{
    {"item", "aten::_local_scalar_dense", [](const at::Tensor& x) { x.sum().item<float>(); }},
    {"condition", "aten::_local_scalar_dense", [](const at::Tensor& x) { x.any().is_nonzero(); }},
    {"to_host", "aten::copy_", [](const at::Tensor& x) { x.cpu(); }},
    {"to_device", "aten::copy_", [](const at::Tensor&) { at::ones({4}).to(device()); }},
    {"pageable_to_device", "aten::copy_",
     [](const at::Tensor&) { at::ones({4}).to(device(), /*non_blocking=*/true); }},
    {"pageable_to_host", "aten::copy_",
     [](const at::Tensor& x) { at::empty({4}).copy_(x, /*non_blocking=*/true); }},
    {"nonzero", "aten::nonzero", [](const at::Tensor& x) { x.nonzero(); }},
    {"mask", "aten::index", [](const at::Tensor& x) { at::index(x, {std::optional(x > 0)}); }},
    {"indices_on_host", "aten::index",
     [](const at::Tensor& x) { at::index(x, {std::optional(at::zeros({2}, at::kLong))}); }},
    {"equal", "aten::equal", [](const at::Tensor& x) { x.equal(x + 1); }},
    {"stream", "stream synchronize",
     [](const at::Tensor&) { test::synchronize(test::default_stream()); }},
    {"event", "event synchronize",
     [](const at::Tensor&) {
       c10::Event event(c10::DeviceType::PrivateUse1);
       event.record(test::default_stream());
       event.synchronize();
     }},
};

class HostWaits : public testing::TestWithParam<Waiting> {
 protected:
  void SetUp() override { test::start_afresh(); }
};

TEST_P(HostWaits, AreCountedAndForbiddenByName) {
  const at::Tensor x = at::ones({4}, at::TensorOptions(device()));
  clear_host_waits();
  GetParam().run(x);
  ASSERT_EQ(1u, host_waits().size());
  EXPECT_EQ(GetParam().op, host_waits()[0].op);
  EXPECT_EQ("stream 0 of sim:0", host_waits()[0].where);
  EXPECT_EQ(1, host_waits()[0].times);

  const NoHostWait scope;
  EXPECT_THAT([&] { GetParam().run(x); }, testing::ThrowsMessage<DeviceError>(testing::AllOf(
                                              testing::HasSubstr(GetParam().op),
                                              testing::HasSubstr("wait for stream 0 of sim:0"))));
  EXPECT_EQ(1, host_waits()[0].times);
}

INSTANTIATE_TEST_SUITE_P(Each, HostWaits, testing::ValuesIn(kWaiting),
                         [](const auto& info) { return info.param.name; });

TEST(NoHostWait, LetsATrainingStepWithPinnedCopiesThrough) {
  const at::Tensor weight = test::values({4, 4}, 1).to(device()).requires_grad_();
  const at::Tensor batch = test::values({8, 4}, 2).pin_memory();
  test::start_afresh();
  const NoHostWait scope;
  const at::Tensor x = batch.to(device(), /*non_blocking=*/true);
  const at::Tensor loss = at::mm(x, weight).square().mean();
  loss.backward();
  const at::Tensor norm = weight.grad().norm();
  const c10::NoGradGuard no_grad;
  weight.sub_(weight.grad() * (1.0 / norm).clamp_max(1.0));
  const at::Tensor report = loss.to(at::kCPU, /*non_blocking=*/true);
  EXPECT_THAT(host_waits(), testing::IsEmpty());
}

TEST(HostWaitsOfADevice, NameIt) {
  test::start_afresh();
  const c10::impl::VirtualGuardImpl guard(c10::DeviceType::PrivateUse1);
  guard.synchronizeDevice(1);
  ASSERT_EQ(1u, host_waits().size());
  EXPECT_EQ("device synchronize", host_waits()[0].op);
  EXPECT_EQ("sim:1", host_waits()[0].where);
  const NoHostWait scope;
  EXPECT_THROW(guard.synchronizeDevice(1), DeviceError);
}

TEST(HostWaitsOfManyKinds, AreCountedByOperatorAndStream) {
  const at::Tensor x = at::ones({4}, at::TensorOptions(device()));
  test::start_afresh();
  for (int i = 0; i < 3; ++i) {
    x.sum().item<float>();
  }
  x.cpu();
  const c10::Stream side = test::new_stream();
  const c10::StreamGuard guard(side);
  x.cpu();
  ASSERT_EQ(3u, host_waits().size());
  EXPECT_EQ(3, host_waits()[0].times);
  EXPECT_EQ("aten::copy_", host_waits()[1].op);
  EXPECT_EQ("aten::copy_", host_waits()[2].op);
  EXPECT_EQ(test::name(side), host_waits()[2].where);
}

}  // namespace
}  // namespace libtrain::sim
