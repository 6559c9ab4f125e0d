#include "libtrain/kernels/isa_kernels.hpp"

namespace libtrain::kernels::LT_ISA {

extern const Table kTable;

/// Known to the linker: no code of this ISA runs to fill it.
constinit const Table kTable{
    .dropout_f32 = dropout_f32,
    .dropout_bf16 = dropout_bf16,
    .sum_of_squares_f32 = sum_of_squares_f32,
    .sum_of_squares_bf16 = sum_of_squares_bf16,
    .adamw_f32 = adamw_f32,
    .adamw_bf16 = adamw_bf16,
    .sgd_f32 = sgd_f32,
    .attention_forward_f32 = attention_forward_f32,
    .attention_backward_f32 = attention_backward_f32,
    .attention_forward_bf16 = attention_forward_bf16,
    .attention_backward_bf16 = attention_backward_bf16,
    .add_norm_forward_f32 = add_norm_forward_f32,
    .add_norm_backward_f32 = add_norm_backward_f32,
    .add_norm_forward_bf16 = add_norm_forward_bf16,
    .add_norm_backward_bf16 = add_norm_backward_bf16,
    .gelu_forward_f32 = gelu_forward_f32,
    .gelu_backward_f32 = gelu_backward_f32,
    .gelu_forward_bf16 = gelu_forward_bf16,
    .gelu_backward_bf16 = gelu_backward_bf16,
};

}  // namespace libtrain::kernels::LT_ISA
