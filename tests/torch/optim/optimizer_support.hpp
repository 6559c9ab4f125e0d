#pragma once

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "libtrain/runtime/parameters.hpp"
#include "tests/support/test_device.hpp"

namespace libtrain::test {

using testing_support::needs_cpu;
using testing_support::needs_sparse_tensors;
using testing_support::on_cpu;
using testing_support::on_device;
using testing_support::outcome;
using testing_support::test_device;

/// What tests/data/make_optimizer_cases.py calls value(n): in [-0.5, 0.5), exact in fp32.
inline float value(uint32_t n) {
  uint32_t x = n * 0x9E3779B1U;
  x ^= x >> 16;
  x *= 0x85EBCA6BU;
  x ^= x >> 13;
  return static_cast<float>(x >> 8) / 16777216.0F - 0.5F;
}

inline at::Tensor values(at::IntArrayRef shape, int64_t start) {
  at::Tensor tensor = at::empty(shape, at::kFloat);
  float* data = tensor.mutable_data_ptr<float>();
  for (int64_t i = 0; i < tensor.numel(); ++i) {
    data[i] = value(static_cast<uint32_t>(start + i));
  }
  return tensor.to(test_device());
}

/// A trainable leaf.
inline Parameter parameter(const std::string& name, at::IntArrayRef shape, int64_t start = 0) {
  return {name, values(shape, start).requires_grad_()};
}

inline Parameters one_group(std::vector<Parameter> parameters) {
  return {{{std::move(parameters), {}}}, {}};
}

/// One dimension of `size` elements.
inline at::Tensor sparse(const std::vector<int64_t>& indices, const std::vector<float>& elements,
                         int64_t size) {
  return at::sparse_coo_tensor(at::tensor(indices, on_device(at::kLong)).unsqueeze(0),
                               at::tensor(elements, on_device()), {size});
}

/// One complex element.
inline at::Tensor complex(float real, float imaginary) {
  return at::view_as_complex(
      at::tensor(std::vector<float>{real, imaginary}, on_device()).unsqueeze(0));
}

inline bool same_bits(const at::Tensor& a, const at::Tensor& b) {
  const at::Tensor x = a.cpu().contiguous();
  const at::Tensor y = b.cpu().contiguous();
  return x.scalar_type() == y.scalar_type() && x.sizes() == y.sizes() &&
         std::memcmp(x.const_data_ptr(), y.const_data_ptr(), x.nbytes()) == 0;
}

}  // namespace libtrain::test
