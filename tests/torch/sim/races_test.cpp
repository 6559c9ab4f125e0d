#include "libtrain/sim/races.hpp"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <array>
#include <functional>

#include "libtrain/core/error.hpp"
#include "libtrain/sim/pinned_memory.hpp"
#include "libtrain/sim/sim.hpp"
#include "sim_support.hpp"

namespace libtrain::sim {
namespace {

using test::default_stream;
using test::name;
using test::wait;

constexpr auto kSim = c10::DeviceType::PrivateUse1;

/// What a program with a bug must be told, and a correct one must not.
struct Expected {
  Hazard hazard;
  Place earlier;
  Place later;
};

/// Each test runs one program twice: right, with no race found, and with a line left out or moved,
/// with this one race found, both places named.
class Races : public testing::Test {
 protected:
  void SetUp() override { test::start_afresh(); }
  void TearDown() override { test::start_afresh(); }

  void expect_found(const std::function<void(bool is_right)>& program, const Expected& expected) {
    program(true);
    EXPECT_THAT(races(), testing::IsEmpty()) << races().front().text();
    test::start_afresh();
    program(false);
    const std::vector<Race> found = races();
    ASSERT_EQ(1u, found.size()) << (found.empty() ? "" : found[1].text());
    EXPECT_EQ(expected.hazard, found[0].hazard);
    EXPECT_EQ(describe(expected.earlier), describe(found[0].earlier));
    EXPECT_EQ(describe(expected.later), describe(found[0].later));
    EXPECT_THAT(found[0].text(), testing::AllOf(testing::HasSubstr(expected.earlier.op),
                                                testing::HasSubstr(expected.later.where)));
  }

  static std::string describe(const Place& place) {
    return place.op + " | " + place.where + " | " + place.tensor;
  }

  const c10::Stream first = default_stream();
  const c10::Stream side = test::new_stream();
  const std::string on_first = name(first);
  const std::string on_side = name(side);
  const at::TensorOptions on_sim = at::TensorOptions(device());
  const at::TensorOptions pinned = at::TensorOptions().pinned_memory(true);
};

TEST_F(Races, MissingWaitBeforeARead) {
  expect_found(
      [&](bool is_right) {
        at::Tensor x = at::empty({4, 8}, on_sim);
        const at::Tensor y = at::empty({4, 8}, on_sim);
        wait(side, first);
        x.fill_(1.0);
        if (is_right) wait(side, first);
        {
          const c10::StreamGuard guard(side);
          y.copy_(x);
        }
        wait(first, side);
      },
      {Hazard::kReadAfterWrite,
       {"aten::fill_", on_first, "Float [4, 8]"},
       {"aten::copy_", on_side, "Float [4, 8]"}});
}

TEST_F(Races, MissingWaitBeforeOverwritingWhatIsRead) {
  expect_found(
      [&](bool is_right) {
        at::Tensor x = at::ones({3}, on_sim);
        const at::Tensor y = at::empty({3}, on_sim);
        wait(side, first);
        {
          const c10::StreamGuard guard(side);
          y.copy_(x);
        }
        if (is_right) wait(first, side);
        x.neg_();
        wait(first, side);
      },
      {Hazard::kWriteAfterRead,
       {"aten::copy_", on_side, "Float [3]"},
       {"aten::neg_", on_first, "Float [3]"}});
}

TEST_F(Races, TwoWritersAtOnce) {
  expect_found(
      [&](bool is_right) {
        at::Tensor x = at::empty({3}, on_sim.dtype(at::kLong));
        wait(side, first);
        x.fill_(1);
        if (is_right) wait(side, first);
        {
          const c10::StreamGuard guard(side);
          x.zero_();
        }
        wait(first, side);
      },
      {Hazard::kWriteAfterWrite,
       {"aten::fill_", on_first, "Long [3]"},
       {"aten::zero_", on_side, "Long [3]"}});
}

TEST_F(Races, EventRecordedTooEarly) {
  expect_found(
      [&](bool is_right) {
        at::Tensor x = at::empty({5}, on_sim);
        c10::Event event(kSim);
        if (!is_right) event.record(first);
        x.fill_(1.0);
        if (is_right) event.record(first);
        event.block(side);
        {
          const c10::StreamGuard guard(side);
          x.neg_();
        }
        wait(first, side);
      },
      {Hazard::kWriteAfterWrite,
       {"aten::fill_", on_first, "Float [5]"},
       {"aten::neg_", on_side, "Float [5]"}});
}

TEST_F(Races, AnotherStreamWaits) {
  const c10::Stream third = test::new_stream();
  expect_found(
      [&](bool is_right) {
        at::Tensor x = at::empty({5}, on_sim);
        wait(side, first);
        x.fill_(1.0);
        wait(is_right ? side : third, first);
        {
          const c10::StreamGuard guard(side);
          x.neg_();
        }
        wait(first, side);
      },
      {Hazard::kWriteAfterWrite,
       {"aten::fill_", on_first, "Float [5]"},
       {"aten::neg_", on_side, "Float [5]"}});
}

TEST_F(Races, WaitForAnEventBeforeItIsRecordedDoesNothing) {
  expect_found(
      [&](bool is_right) {
        at::Tensor x = at::empty({2, 2}, on_sim.dtype(at::kDouble));
        wait(side, first);
        c10::Event event(kSim);
        x.fill_(1.0);
        if (is_right) event.record(first);
        event.block(side);
        event.record(first);
        {
          const c10::StreamGuard guard(side);
          x.add_(2.0);
        }
        wait(first, side);
      },
      {Hazard::kWriteAfterWrite,
       {"aten::fill_", on_first, "Double [2, 2]"},
       {"aten::add_", on_side, "Double [2, 2]"}});
}

TEST_F(Races, MissingRecordStream) {
  expect_found(
      [&](bool is_right) {
        at::Tensor x = at::ones({7}, on_sim);
        const at::Tensor y = at::empty({7}, on_sim);
        wait(side, first);
        {
          const c10::StreamGuard guard(side);
          y.copy_(x);
        }
        if (is_right) x.record_stream(side);
        x.reset();
        wait(first, side);
      },
      {Hazard::kFreedInUse,
       {"aten::copy_", on_side, "Float [7]"},
       {"free", on_first, "Float [7]"}});
}

TEST_F(Races, RecordStreamForAnotherStream) {
  const c10::Stream third = test::new_stream();
  expect_found(
      [&](bool is_right) {
        at::Tensor x = at::ones({7}, on_sim);
        wait(side, first);
        {
          const c10::StreamGuard guard(side);
          x.neg_();
        }
        x.record_stream(is_right ? side : third);
        x.reset();
        wait(first, side);
      },
      {Hazard::kFreedInUse, {"aten::neg_", on_side, "Float [7]"}, {"free", on_first, "Float [7]"}});
}

TEST_F(Races, NewMemoryOfOneStreamUsedOnAnother) {
  expect_found(
      [&](bool is_right) {
        at::Tensor x = at::empty({3}, on_sim);
        if (is_right) wait(side, first);
        {
          const c10::StreamGuard guard(side);
          x.zero_();
        }
        wait(first, side);
      },
      {Hazard::kWriteAfterWrite,
       {"allocation", on_first, "Byte [12]"},
       {"aten::zero_", on_side, "Float [3]"}});
}

TEST_F(Races, PinnedBufferRefilledTooEarly) {
  expect_found(
      [&](bool is_right) {
        at::Tensor batch = at::ones({6}, pinned);
        const at::Tensor on_device = batch.to(device(), /*non_blocking=*/true);
        if (is_right) test::synchronize(first);
        batch.fill_(2.0);
        test::synchronize(first);
      },
      {Hazard::kWriteAfterRead,
       {"aten::copy_", on_first, "Float [6]"},
       {"aten::fill_", "the host", "Float [6]"}});
}

TEST_F(Races, PinnedBufferRefilledByItsAddress) {
  expect_found(
      [&](bool is_right) {
        at::Tensor batch = at::ones({6}, pinned);
        const at::Tensor on_device = batch.to(device(), /*non_blocking=*/true);
        if (is_right) test::synchronize(first);
        note_host_write(batch, "loader");
        batch.mutable_data_ptr<float>()[0] = 5.0f;
        test::synchronize(first);
      },
      {Hazard::kWriteAfterRead,
       {"aten::copy_", on_first, "Float [6]"},
       {"loader", "the host", "Float [6]"}});
}

TEST_F(Races, SlotOfARingGivenBackBeforeItsCopyEnded) {
  expect_found(
      [&](bool is_right) {
        const std::array<at::Tensor, 2> slots{at::empty({2, 3}, pinned), at::empty({2, 3}, pinned)};
        std::array<c10::Event, 2> copied{c10::Event(kSim), c10::Event(kSim)};
        const c10::StreamGuard guard(side);
        for (int batch = 0; batch < 6; ++batch) {
          const int slot = batch % 2;
          if (is_right || batch < 5) copied[slot].synchronize();
          slots[slot].fill_(batch);
          const at::Tensor x = slots[slot].to(device(), /*non_blocking=*/true);
          copied[slot].record(side);
        }
      },
      {Hazard::kWriteAfterRead,
       {"aten::copy_", on_side, "Float [2, 3]"},
       {"aten::fill_", "the host", "Float [2, 3]"}});
}

TEST_F(Races, HostReadsBeforeTheCopyEnded) {
  expect_found(
      [&](bool is_right) {
        const at::Tensor x = at::ones({6}, on_sim);
        const at::Tensor result = at::empty({6}, pinned);
        result.copy_(x, /*non_blocking=*/true);
        if (is_right) test::synchronize(first);
        EXPECT_EQ(1.0f, result.select(0, 5).item<float>());
        test::synchronize(first);
      },
      {Hazard::kReadAfterWrite,
       {"aten::copy_", on_first, "Float [6]"},
       {"aten::item", "the host", "Float []"}});
}

TEST_F(Races, HostReadsAnAddressBeforeItsEventHasCome) {
  expect_found(
      [&](bool is_right) {
        const at::Tensor result = at::ones({6}, on_sim).to(at::kCPU, /*non_blocking=*/true);
        c10::Event event(kSim);
        event.record(first);
        if (is_right) {
          EXPECT_TRUE(event.query());
        }
        note_host_read(result, "report");
        test::synchronize(first);
      },
      {Hazard::kReadAfterWrite,
       {"aten::copy_", on_first, "Float [6]"},
       {"report", "the host", "Float [6]"}});
}

TEST_F(Races, GradientsUsedBeforeBackwardOfAnotherStreamEnded) {
  const at::Tensor weight = at::ones({4}, on_sim).requires_grad_();
  expect_found(
      [&](bool is_right) {
        weight.mutable_grad() = at::zeros({4}, on_sim);
        wait(side, first);
        {
          const c10::StreamGuard guard(side);
          weight.square().sum().backward();
        }
        if (is_right) wait(first, side);
        weight.grad().neg_();
        wait(first, side);
      },
      {Hazard::kWriteAfterWrite,
       {"aten::add_", on_side, "Float [4]"},
       {"aten::neg_", on_first, "Float [4]"}});
}

TEST_F(Races, CopyToAnotherDeviceReadOnAThirdStream) {
  const c10::Stream other = test::new_stream(1);
  expect_found(
      [&](bool is_right) {
        const at::Tensor x = at::ones({4}, on_sim);
        at::Tensor y = at::empty({4}, at::TensorOptions(device(1)));
        wait(other, default_stream(1));
        y.copy_(x);
        if (is_right) wait(other, default_stream(1));
        {
          const c10::StreamGuard guard(other);
          y.neg_();
        }
        wait(default_stream(1), other);
      },
      {Hazard::kWriteAfterWrite,
       {"aten::copy_", on_first, "Float [4]"},
       {"aten::neg_", name(other), "Float [4]"}});
}

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

TEST_F(Races, EventOfAnotherDeviceIsRefused) {
  c10::Event event(kSim);
  event.record(first);
  EXPECT_THAT([&] { event.record(default_stream(1)); },
              testing::ThrowsMessage<DeviceError>(
                  testing::HasSubstr("an event of sim:0 is recorded on a stream of sim:1")));
}

}  // namespace
}  // namespace libtrain::sim
