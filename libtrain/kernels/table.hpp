#pragma once

#include "libtrain/core/api.hpp"
#include "libtrain/kernels/adamw.hpp"
#include "libtrain/kernels/add_norm.hpp"
#include "libtrain/kernels/attention.hpp"
#include "libtrain/kernels/dropout.hpp"
#include "libtrain/kernels/gelu.hpp"
#include "libtrain/kernels/gradient_norm.hpp"
#include "libtrain/kernels/isa.hpp"
#include "libtrain/kernels/sgd.hpp"

namespace libtrain::kernels {

/// Every kernel in the version compiled for one ISA. Kernels run on the calling thread only:
/// callers split the work.
struct Table {
  DropoutF32 dropout_f32;
  DropoutBF16 dropout_bf16;
  SumOfSquaresF32 sum_of_squares_f32;
  SumOfSquaresBF16 sum_of_squares_bf16;
  AdamWF32 adamw_f32;
  AdamWBF16 adamw_bf16;
  SgdF32 sgd_f32;
  AttentionForward<float> attention_forward_f32;
  AttentionBackward<float> attention_backward_f32;
  AttentionForward<BFloat16> attention_forward_bf16;
  AttentionBackward<BFloat16> attention_backward_bf16;
  AddNormForward<float> add_norm_forward_f32;
  AddNormBackward<float> add_norm_backward_f32;
  AddNormForward<BFloat16> add_norm_forward_bf16;
  AddNormBackward<BFloat16> add_norm_backward_bf16;
  GeluForward<float> gelu_forward_f32;
  GeluBackward<float> gelu_backward_f32;
  GeluForward<BFloat16> gelu_forward_bf16;
  GeluBackward<BFloat16> gelu_backward_bf16;
};

/// The table for active_isa().
LT_API const Table& table();
/// The table for one ISA of available_isas(). Throws InvalidOption for any other.
LT_API const Table& table(Isa isa);

}  // namespace libtrain::kernels
