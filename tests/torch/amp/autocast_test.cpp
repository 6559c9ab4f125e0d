#include "libtrain/amp/autocast.hpp"

#include <ATen/ATen.h>
#include <ATen/autocast_mode.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/custom_function.h>
#include <unistd.h>

#include <fstream>
#include <stdexcept>
#include <thread>

#include "libtrain/amp/thread_state.hpp"
#include "libtrain/core/error.hpp"
#include "tests/support/test_device.hpp"

namespace libtrain {
namespace {

using testing_support::on_device;

c10::DeviceType device_type() { return testing_support::test_device().type(); }

/// The dtype a matrix product of fp32 tensors has here.
at::ScalarType product_dtype() {
  const at::Tensor ones = at::ones({2, 2}, on_device());
  return at::mm(ones, ones).scalar_type();
}

bool operator==(const AutocastState& a, const AutocastState& b) {
  return a.device == b.device && a.dtype == b.dtype && a.enabled == b.enabled &&
         a.cache_enabled == b.cache_enabled;
}

int64_t resident_bytes() {
  int64_t total = 0;
  int64_t resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

TEST(Autocast, HoldsInsideItsScopeOnly) {
  EXPECT_EQ(product_dtype(), at::kFloat);
  {
    const Autocast cast(device_type(), at::kBFloat16);
    EXPECT_EQ(product_dtype(), at::kBFloat16);
  }
  EXPECT_EQ(product_dtype(), at::kFloat);
}

TEST(Autocast, NestsWithOtherDtypesAndDisabled) {
  const Autocast outer(device_type(), at::kBFloat16);
  {
    const Autocast inner(device_type(), at::kHalf);
    EXPECT_EQ(product_dtype(), at::kHalf);
    {
      const Autocast off(device_type(), at::kFloat, /*enabled=*/false);
      EXPECT_EQ(product_dtype(), at::kFloat);
    }
    EXPECT_EQ(product_dtype(), at::kHalf);
  }
  EXPECT_EQ(product_dtype(), at::kBFloat16);
}

TEST(Autocast, AnExceptionRestoresWhatWasBefore) {
  const AutocastState before = autocast_state(device_type());
  try {
    const Autocast cast(device_type(), at::kHalf, true, /*cache_enabled=*/false);
    throw std::runtime_error("forward failed");
  } catch (const std::runtime_error&) {
  }
  EXPECT_TRUE(before == autocast_state(device_type()));
  EXPECT_EQ(product_dtype(), at::kFloat);
}

TEST(Autocast, LeavesOtherDevicesAlone) {
  const Autocast cast(device_type(), at::kBFloat16);
  for (const c10::DeviceType other : {at::kCPU, at::kCUDA, at::kXPU}) {
    EXPECT_EQ(autocast_state(other).enabled, other == device_type());
  }
}

TEST(Autocast, OutOfPlaceCastsWhileInPlaceKeepsItsDtype) {
  const Autocast cast(device_type(), at::kBFloat16);
  const at::Tensor product = at::mm(at::ones({2, 2}, on_device()), at::ones({2, 2}, on_device()));
  EXPECT_EQ(product.scalar_type(), at::kBFloat16);
  at::Tensor sum = at::zeros({2, 2}, on_device());
  sum.add_(product);
  EXPECT_EQ(sum.scalar_type(), at::kFloat);
}

TEST(Autocast, MemoryStaysFlatOverGuardedForwardsWithoutGradients) {
  constexpr int64_t kWeightBytes = int64_t{1} << 20;  // cast to 16 bit
  const at::NoGradGuard no_grad;
  const auto forward = [] {
    const at::Tensor weight = at::ones({512, 1024}, on_device()).requires_grad_();
    const Autocast cast(device_type(), at::kBFloat16);
    at::mm(at::ones({1, 512}, on_device()), weight);
  };
  for (int i = 0; i < 20; ++i) {
    forward();
  }
  const int64_t before = resident_bytes();
  for (int i = 0; i < 200; ++i) {
    forward();
  }
  EXPECT_LT(resident_bytes() - before, 20 * kWeightBytes);
}

TEST(Autocast, OnlyTheOutermostGuardClearsTheCache) {
  const at::Tensor weight = at::ones({4, 4}, on_device()).requires_grad_();
  const auto cast_weight = [&] {
    return at::autocast::cached_cast(at::kBFloat16, weight, device_type());
  };
  const Autocast outer(device_type(), at::kBFloat16);
  const at::Tensor first = cast_weight();
  { const Autocast inner(device_type(), at::kBFloat16); }
  EXPECT_TRUE(first.is_same(cast_weight()));
  const Autocast uncached(device_type(), at::kBFloat16, true, /*cache_enabled=*/false);
  EXPECT_FALSE(first.is_same(cast_weight()));
}

TEST(Autocast, AGuardOfItsOwnDoesNotSeeTheCastsOfTheLast) {
  const at::Tensor weight = at::ones({4, 4}, on_device()).requires_grad_();
  const auto cast_weight = [&] {
    const Autocast cast(device_type(), at::kBFloat16);
    return at::autocast::cached_cast(at::kBFloat16, weight, device_type());
  };
  const at::Tensor first = cast_weight();
  EXPECT_FALSE(first.is_same(cast_weight()));
}

TEST(Autocast, RefusesOtherDtypesAndDevicesWithoutIt) {
  EXPECT_THROW(Autocast(device_type(), at::kFloat), InvalidOption);
  EXPECT_THROW(Autocast(device_type(), at::kLong), InvalidOption);
  EXPECT_THROW(Autocast(at::kMeta, at::kHalf), Unsupported);
  EXPECT_THROW(autocast_state(at::kMeta), Unsupported);
  EXPECT_EQ(at::autocast::increment_nesting(), 1);
  at::autocast::decrement_nesting();
}

struct SeesDtypeInBackward : torch::autograd::Function<SeesDtypeInBackward> {
  static inline AutocastState forward_state;
  static inline at::ScalarType backward_dtype = at::kFloat;

  static at::Tensor forward(torch::autograd::AutogradContext*, const at::Tensor& x) {
    forward_state = autocast_state(device_type());
    return x.clone();
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext*,
                                                 torch::autograd::variable_list gradients) {
    const Autocast as_in_forward(forward_state);
    backward_dtype = product_dtype();
    return gradients;
  }
};

TEST(AutocastState, GivesACustomFunctionsBackwardTheForwardsDtype) {
  const at::Tensor x = at::ones({2}, on_device()).requires_grad_();
  at::Tensor y;
  {
    const Autocast cast(device_type(), at::kHalf);
    y = SeesDtypeInBackward::apply(x);
  }
  y.sum().backward();
  EXPECT_EQ(SeesDtypeInBackward::backward_dtype, at::kHalf);
  EXPECT_EQ(product_dtype(), at::kFloat);
}

struct Seen {
  at::ScalarType dtype = at::kFloat;
  bool gradients = true;
  bool cache = true;
};

Seen seen_here() {
  return {product_dtype(), at::GradMode::is_enabled(), at::autocast::is_autocast_cache_enabled()};
}

TEST(ThreadState, CarriesGradModeAndAutocastIntoAnotherThread) {
  const at::NoGradGuard no_grad;
  const Autocast cast(device_type(), at::kHalf, true, /*cache_enabled=*/false);
  const ThreadState state;
  Seen bare;
  Seen carried;
  Seen after;
  std::thread worker([&] {
    bare = seen_here();
    carried = state.run(seen_here);
    after = seen_here();
  });
  worker.join();
  EXPECT_EQ(bare.dtype, at::kFloat);
  EXPECT_TRUE(bare.gradients);
  EXPECT_EQ(carried.dtype, at::kHalf);
  EXPECT_FALSE(carried.gradients);
  EXPECT_FALSE(carried.cache);
  EXPECT_EQ(after.dtype, at::kFloat);
  EXPECT_TRUE(after.gradients);
  EXPECT_TRUE(after.cache);
}

TEST(ThreadState, RestoresTheThreadsOwnStateAfterAnException) {
  Seen after;
  const Autocast cast(device_type(), at::kHalf);
  const ThreadState state;
  std::thread worker([&] {
    EXPECT_THROW(state.run([]() -> int { throw std::runtime_error("failed"); }),
                 std::runtime_error);
    after = seen_here();
  });
  worker.join();
  EXPECT_EQ(after.dtype, at::kFloat);
}

TEST(ThreadState, ClearsTheCastsItsThreadCached) {
  const at::Tensor weight = at::ones({4, 4}, on_device()).requires_grad_();
  at::Tensor first;
  at::Tensor second;
  at::autocast::set_autocast_enabled(device_type(), true);
  const ThreadState state;
  at::autocast::set_autocast_enabled(device_type(), false);
  std::thread worker([&] {
    const auto cast = [&] {
      return at::autocast::cached_cast(at::kBFloat16, weight, device_type());
    };
    first = state.run(cast);
    second = state.run(cast);
  });
  worker.join();
  EXPECT_FALSE(first.is_same(second));
}

}  // namespace
}  // namespace libtrain
