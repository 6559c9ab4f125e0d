#pragma once

#include <ATen/core/Tensor.h>

namespace libtrain::sim {

/// `aten::_scaled_mm` as CUDA has it: a [M, K] row-major and b [K, N] column-major in 8 bits, K and
/// N multiples of 16; one fp32 scale each, or one a row of a and one a column of b. Computed in
/// fp32: (a * scale_a) (b * scale_b) + bias. Rules: LibTorch's native/cuda/ScaledBlas.cpp and
/// CUDABlas.cpp (Blas.cpp before 2.10), for a device before Blackwell.
/// @throws InvalidOption that names the rule which an argument breaks; Unsupported for other
/// scalings and scale_result.
at::Tensor scaled_mm(const at::Tensor& a, const at::Tensor& b, const at::Tensor& scale_a,
                     const at::Tensor& scale_b, const std::optional<at::Tensor>& bias,
                     const std::optional<at::Tensor>& scale_result,
                     std::optional<c10::ScalarType> out_dtype, bool use_fast_accum);

at::Tensor& scaled_mm_out(const at::Tensor& a, const at::Tensor& b, const at::Tensor& scale_a,
                          const at::Tensor& scale_b, const std::optional<at::Tensor>& bias,
                          const std::optional<at::Tensor>& scale_result,
                          std::optional<c10::ScalarType> out_dtype, bool use_fast_accum,
                          at::Tensor& out);

}  // namespace libtrain::sim
