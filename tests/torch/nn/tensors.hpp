#pragma once

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "libtrain/runtime/packed.hpp"
#include "tests/support/test_device.hpp"

namespace libtrain::test {

using testing_support::needs_cpu;
using testing_support::NoHostWait;
using testing_support::on_cpu;
using testing_support::on_device;
using testing_support::test_device;

/// On the device of this process, the same numbers on all.
inline at::Tensor randn(at::IntArrayRef sizes, at::ScalarType dtype = at::kFloat) {
  return at::randn(sizes, dtype).to(test_device());
}

inline at::Tensor ones(at::IntArrayRef sizes, at::ScalarType dtype = at::kFloat) {
  return at::ones(sizes, on_device(dtype));
}

inline PackedLayoutPtr layout_of(const std::vector<int64_t>& lengths) {
  return std::make_shared<const PackedLayout>(lengths);
}

/// Largest difference allowed, absolute, of two tensors compared in double.
inline void expect_near(const at::Tensor& actual, const at::Tensor& expected, double tolerance) {
  ASSERT_EQ(actual.sizes(), expected.sizes());
  if (actual.numel() == 0) {
    return;
  }
  const double difference =
      actual.cpu().to(at::kDouble).sub(expected.cpu().to(at::kDouble)).abs().max().item<double>();
  EXPECT_LE(difference, tolerance);
}

inline void expect_same_bits(const at::Tensor& actual, const at::Tensor& expected) {
  EXPECT_EQ(actual.scalar_type(), expected.scalar_type());
  EXPECT_TRUE(at::equal(actual.cpu(), expected.cpu()));
}

inline at::Tensor leaf(const at::Tensor& values, at::ScalarType dtype) {
  return values.detach().to(test_device(), dtype).clone().requires_grad_(true);
}

class ThreadCount {
 public:
  explicit ThreadCount(int count) : before_(at::get_num_threads()) { at::set_num_threads(count); }
  ~ThreadCount() { at::set_num_threads(before_); }
  ThreadCount(const ThreadCount&) = delete;
  ThreadCount& operator=(const ThreadCount&) = delete;

 private:
  int before_;
};

}  // namespace libtrain::test
