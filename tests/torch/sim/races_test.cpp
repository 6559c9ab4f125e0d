#include "libtrain/sim/races.hpp"

#include <ATen/ATen.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <gtest/gtest.h>

#include <functional>

#include "libtrain/sim/sim.hpp"
#include "sim_support.hpp"

namespace libtrain::sim {
namespace {

using test::default_stream;
using test::name;
using test::wait;

class Races : public testing::Test {
 protected:
  void SetUp() override { test::start_afresh(); }
  void TearDown() override { test::start_afresh(); }

  const c10::Stream first = default_stream();
  const c10::Stream side = test::new_stream();
  const std::string on_first = name(first);
  const std::string on_side = name(side);
  const at::TensorOptions on_sim = at::TensorOptions(device());
};

TEST_F(Races, PartsOfOneBufferAreUsedApart) {
  const at::Tensor buffer = at::zeros({8, 4}, on_sim);
  wait(side, first);
  const at::Tensor upper = buffer.narrow(0, 0, 4);
  at::Tensor lower = buffer.narrow(0, 4, 4);
  upper.add_(1.0);
  const c10::StreamGuard guard(side);
  lower.add_(1.0);
  EXPECT_THAT(races(), testing::IsEmpty());
  buffer.narrow(0, 3, 2).add_(1.0);
  ASSERT_EQ(1u, races().size());
  EXPECT_EQ("Float [4, 4]", races()[0].earlier.tensor);
  EXPECT_EQ("Float [2, 4]", races()[0].later.tensor);
}

TEST_F(Races, BackwardOnTwoStreamsIsOrderedByTheEngine) {
  const at::Tensor weight = at::ones({4, 4}, on_sim).requires_grad_();
  const at::Tensor x = at::ones({4, 4}, on_sim);
  wait(side, first);
  at::Tensor half;
  {
    const c10::StreamGuard guard(side);
    half = at::mm(x, weight).relu();
  }
  wait(first, side);
  const at::Tensor loss = (half + at::mm(x, weight)).sum();
  loss.backward();
  weight.grad().neg_();
  test::synchronize(first);
  EXPECT_THAT(races(), testing::IsEmpty()) << races().front().text();
}

TEST_F(Races, WhatAnOperatorReadsAndWritesCountsAsWritten) {
  at::Tensor x = at::zeros({4}, on_sim);
  wait(side, first);
  x.add_(x);
  {
    const c10::StreamGuard guard(side);
    x.add_(x);
  }
  ASSERT_EQ(1u, races().size());
  EXPECT_EQ(Hazard::kWriteAfterWrite, races()[0].hazard);
  test::start_afresh();

  x.add_(x.view({4}));  // another tensor over the same bytes
  const c10::StreamGuard guard(side);
  x.zero_();
  ASSERT_EQ(1u, races().size());
  EXPECT_EQ(Hazard::kWriteAfterWrite, races()[0].hazard);
}

TEST_F(Races, OfTheSamePlacesButAnotherHazardAreTwo) {
  at::Tensor x = at::zeros({4}, on_sim), y = at::zeros({4}, on_sim);
  wait(side, first);
  x.add_(y);
  const c10::StreamGuard guard(side);
  y.add_(x);
  ASSERT_EQ(2u, races().size());
  EXPECT_NE(races()[0].hazard, races()[1].hazard);
}

TEST_F(Races, TensorsWithoutElementsTouchNothing) {
  const at::Tensor x = at::zeros({4}, on_sim);
  wait(side, first);
  x.fill_(1.0);
  const c10::StreamGuard guard(side);
  x.narrow(0, 2, 0).zero_();
  EXPECT_THAT(races(), testing::IsEmpty()) << races().front().text();
}

TEST_F(Races, WhateverTheHostWaitsForItKnows) {
  const c10::impl::VirtualGuardImpl guard(c10::DeviceType::PrivateUse1);
  const at::Tensor x = at::ones({4}, on_sim);
  const std::vector<std::function<void()>> waits{
      [&] { x.sum().item<float>(); },
      [&] { x.cpu(); },
      [&] { x.nonzero(); },
      [&] { guard.queryStream(first); },
      [&] { test::synchronize(first); },
      [&] { guard.synchronizeDevice(0); },
  };
  for (size_t i = 0; i <= waits.size(); ++i) {
    const at::Tensor result = x.to(at::kCPU, /*non_blocking=*/true);
    if (i < waits.size()) waits[i]();
    result.sum();
    EXPECT_EQ(i == waits.size(), !races().empty()) << i;
  }
}

TEST_F(Races, WhatIsAskedOfAPinnedTensorReadsNoValues) {
  const at::Tensor result = at::ones({4}, on_sim).to(at::kCPU, /*non_blocking=*/true);
  EXPECT_TRUE(result.is_pinned());
  at::zeros_like(result);
  result.new_empty({2});
  EXPECT_THAT(races(), testing::IsEmpty()) << races().front().text();
}

TEST_F(Races, TheSameRaceIsCountedOnce) {
  at::Tensor x = at::zeros({3}, on_sim);
  wait(side, first);
  for (int i = 0; i < 3; ++i) {
    x.add_(1.0);
    const c10::StreamGuard guard(side);
    x.neg_();
  }
  ASSERT_EQ(2u, races().size());
  EXPECT_EQ(3, races()[0].times);
  EXPECT_EQ("[sim.race] aten::neg_ on " + on_side + " (Float [3]) overwrites what aten::add_ on " +
                on_first +
                " (Float [3]) writes, and nothing orders them; make the later wait for the earlier",
            races()[0].text());
}

}  // namespace
}  // namespace libtrain::sim
