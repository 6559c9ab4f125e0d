#pragma once

#include <cstdint>

#include "libtrain/kernels/bfloat16.hpp"
#include "libtrain/kernels/random.hpp"

namespace libtrain::kernels {

/// out = LayerNorm(dropout(input) + residual) on rows that follow one another in one sample, with
/// normalised = (sum - mean) * rstd, rstd = 1 / sqrt(variance + eps), out = normalised * weight +
/// bias (Ba, Kiros, Hinton, arXiv:1607.06450; the variance is the biased one). Arithmetic is fp32
/// whatever the type of `input`, statistics in two passes over the row. The same bits on every ISA.
struct AddNormArgs {
  int64_t rows = 0;
  int64_t columns = 0;
  double eps = 1e-5;
  RandomStream stream = {};
  int64_t first = 0;     ///< index in the sample of the first row's first element
  double dropout = 0.0;  ///< probability in [0, 1)
};

/// `normalised` and `rstd` are what backward reads: dropout is drawn again, the sum is not needed.
/// Both may be null.
template <class T>
using AddNormForward = void (*)(const T* input, const float* residual, const float* weight,
                                const float* bias, float* out, float* normalised, float* rstd,
                                const AddNormArgs& args);

/// Adds to grad_weight and grad_bias row after row, and writes grad_input and grad_residual.
template <class T>
using AddNormBackward = void (*)(const float* grad_out, const float* normalised, const float* rstd,
                                 const float* weight, T* grad_input, float* grad_residual,
                                 float* grad_weight, float* grad_bias, const AddNormArgs& args);

}  // namespace libtrain::kernels
