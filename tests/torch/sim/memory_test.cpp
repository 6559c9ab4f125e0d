#include "libtrain/sim/memory.hpp"

#include <ATen/ATen.h>
#include <ATen/core/CachingHostAllocator.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <gtest/gtest.h>

#include "libtrain/core/error.hpp"
#include "libtrain/sim/sim.hpp"
#include "sim_support.hpp"

namespace libtrain::sim {
namespace {

int64_t held(c10::DeviceIndex index = 0) {
  return c10::getDeviceAllocator(c10::DeviceType::PrivateUse1)
      ->getDeviceStats(index)
      .allocated_bytes[0]
      .current;
}

/// Lets a device hold `bytes` for a scope.
struct Limit {
  explicit Limit(int64_t bytes) { set_memory_limit(0, bytes); }
  ~Limit() { set_memory_limit(0, 1L << 40); }
};

TEST(Enable, RefusesNumbersItCannotHave) {
  enable(2);
  EXPECT_THROW(enable(0), InvalidOption);
  EXPECT_THROW(enable(9), InvalidOption);
  EXPECT_THAT([] { enable(3); },
              testing::ThrowsMessage<InvalidOption>(testing::HasSubstr("expected 2")));
  EXPECT_THROW(device(2), InvalidOption);
  EXPECT_THROW(at::empty({1}, at::Device("sim:2")), InvalidOption);
  EXPECT_EQ("sim:1", device(1).str());
  EXPECT_EQ(device(1), at::empty({1}, at::Device("sim:1")).device());
}

TEST(Memory, IsCountedInBlocksOf512BytesADevice) {
  const int64_t before = held();
  const int64_t other = held(1);
  {
    const at::Tensor x = at::empty({100}, device());
    EXPECT_EQ(before + 512, held());
    const at::Tensor y = x + 1;
    const at::Tensor view = x.slice(0, 10);
    EXPECT_EQ(before + 1024, held());
    const at::Tensor z = at::ones({1000}, device(1));
    EXPECT_EQ(other + 4096, held(1));
  }
  EXPECT_EQ(before, held());
  EXPECT_EQ(other, held(1));
}

TEST(Memory, OfResultsThatTheCpuMadeIsCountedToo) {
  const at::Tensor x = at::ones({4, 256}, device());
  const int64_t before = held();
  const at::Tensor found = x.nonzero();
  EXPECT_EQ(before + 4 * 256 * 16, held());
}

TEST(Memory, IsCountedAsCudaCountsIt) {
  auto* allocator = c10::getDeviceAllocator(c10::DeviceType::PrivateUse1);
  allocator->resetAccumulatedStats(0);
  const auto before = allocator->getDeviceStats(0);
  at::Tensor x = at::empty({100}, device());
  const auto with = allocator->getDeviceStats(0);
  EXPECT_EQ(before.allocation[0].current + 1, with.allocation[0].current);
  EXPECT_EQ(before.requested_bytes[0].current + 400, with.requested_bytes[0].current);
  EXPECT_EQ(before.reserved_bytes[0].current + 512, with.reserved_bytes[0].current);
  EXPECT_EQ(before.active_bytes[0].current + 512, with.active_bytes[0].current);
  x.reset();
  const auto after = allocator->getDeviceStats(0);
  EXPECT_EQ(before.requested_bytes[0].current, after.requested_bytes[0].current);
  EXPECT_EQ(before.reserved_bytes[0].current, after.reserved_bytes[0].current);
  EXPECT_EQ(512, after.allocated_bytes[0].allocated);
  EXPECT_EQ(512, after.allocated_bytes[0].freed);
}

TEST(Memory, KeepsItsPeak) {
  auto* allocator = c10::getDeviceAllocator(c10::DeviceType::PrivateUse1);
  allocator->resetPeakStats(0);
  const int64_t before = held();
  at::empty({1 << 20}, device());
  EXPECT_EQ(before, held());
  EXPECT_EQ(before + (4 << 20), allocator->getDeviceStats(0).allocated_bytes[0].peak);
  allocator->resetPeakStats(0);
  EXPECT_EQ(before, allocator->getDeviceStats(0).allocated_bytes[0].peak);
}

TEST(Memory, BeyondTheLimitIsOutOfMemoryAndNothingIsLost) {
  const at::Tensor x = at::ones({256}, device());
  const Limit limit(held() + 1024);
  auto* allocator = c10::getDeviceAllocator(c10::DeviceType::PrivateUse1);
  const int64_t failures = allocator->getDeviceStats(0).num_ooms;
  EXPECT_THAT(
      [] { at::empty({1000}, device()); },
      testing::ThrowsMessage<c10::OutOfMemoryError>(testing::AllOf(
          testing::HasSubstr("sim:0 is out of memory"), testing::HasSubstr("asked for 3.9 KiB"))));
  EXPECT_THROW(x.nonzero(), c10::OutOfMemoryError);  // made by the CPU, then counted
  EXPECT_EQ(failures + 2, allocator->getDeviceStats(0).num_ooms);
  const auto [free, total] = allocator->getMemoryInfo(0);
  EXPECT_EQ(1024, free);
  EXPECT_EQ(held() + 1024, static_cast<int64_t>(total));
  EXPECT_TRUE(test::same_bits(at::full({256}, 2.0), x + 1));
}

TEST(PinnedMemory, IsKnownByItsAddress) {
  const at::Tensor pinned = at::empty({16}, at::TensorOptions().pinned_memory(true));
  EXPECT_TRUE(pinned.is_pinned());
  EXPECT_TRUE(pinned.slice(0, 8).is_pinned());
  const auto* address = static_cast<const char*>(pinned.const_data_ptr());
  const auto& hooks = at::detail::getPrivateUse1Hooks();
  EXPECT_TRUE(hooks.isPinnedPtr(address + 63));
  EXPECT_FALSE(hooks.isPinnedPtr(address + 64));
  EXPECT_FALSE(at::empty({16}).is_pinned());
  EXPECT_TRUE(at::ones({3}).pin_memory().is_pinned());
  EXPECT_TRUE(at::ones({3}, device()).to(at::kCPU, /*non_blocking=*/true).is_pinned());
  auto* allocator = at::getHostAllocator(c10::DeviceType::PrivateUse1);
  EXPECT_EQ(64, allocator->get_stats().allocated_bytes.current);
}

TEST(Copies, GoBetweenHostAndDevicesInEveryLayoutAndDtype) {
  const at::Tensor x = test::values({4, 6}, 1);
  EXPECT_TRUE(test::same_bits(x, x.to(device()).to(device(1)).to(at::kCPU)));
  EXPECT_TRUE(test::same_bits(x.t().to(at::kDouble), x.to(device()).t().to(at::kDouble).cpu()));
  at::Tensor target = at::zeros({6, 4}, device(1));
  target.t().copy_(x.to(device()));
  EXPECT_TRUE(test::same_bits(x.t().contiguous(), target));
  EXPECT_TRUE(test::same_bits(x.pin_memory(), x.pin_memory().to(device(), /*non_blocking=*/true)));
  EXPECT_EQ(x[1][2].item<float>(), x.to(device())[1][2].item<float>());
}

}  // namespace
}  // namespace libtrain::sim
