#pragma once

#include "libtrain/kernels/table.hpp"

/// The kernels of the ISA this file is compiled for: what libtrain/kernels/table.hpp points to.
namespace libtrain::kernels::LT_ISA {

void dropout_f32(const float* in, float* out, const DropoutArgs& args);
void dropout_bf16(const BFloat16* in, BFloat16* out, const DropoutArgs& args);
double sum_of_squares_f32(const float* x, int64_t count);
double sum_of_squares_bf16(const BFloat16* x, int64_t count);
void adamw_f32(float* param, float* grad, float* exp_avg, float* exp_avg_sq, float* max_exp_avg_sq,
               int64_t count, const AdamWArgs& args);
void adamw_bf16(float* param, BFloat16* grad, float* exp_avg, float* exp_avg_sq,
                float* max_exp_avg_sq, int64_t count, const AdamWArgs& args);
void sgd_f32(float* param, float* grad, float* momentum_buffer, int64_t count, const SgdArgs& args);
void attention_forward_f32(const float* q, const float* k, const float* v, float* out,
                           float* log_sum_exp, float* workspace, const AttentionArgs& args);
void attention_forward_bf16(const BFloat16* q, const BFloat16* k, const BFloat16* v, BFloat16* out,
                            float* log_sum_exp, float* workspace, const AttentionArgs& args);
void attention_backward_f32(const float* q, const float* k, const float* v, const float* out,
                            const float* log_sum_exp, const float* grad_out, float* grad_q,
                            float* grad_k, float* grad_v, float* workspace,
                            const AttentionArgs& args);
void attention_backward_bf16(const BFloat16* q, const BFloat16* k, const BFloat16* v,
                             const BFloat16* out, const float* log_sum_exp,
                             const BFloat16* grad_out, BFloat16* grad_q, BFloat16* grad_k,
                             BFloat16* grad_v, float* workspace, const AttentionArgs& args);
void add_norm_forward_f32(const float* input, const float* residual, const float* weight,
                          const float* bias, float* out, float* normalised, float* rstd,
                          const AddNormArgs& args);
void add_norm_forward_bf16(const BFloat16* input, const float* residual, const float* weight,
                           const float* bias, float* out, float* normalised, float* rstd,
                           const AddNormArgs& args);
void add_norm_backward_f32(const float* grad_out, const float* normalised, const float* rstd,
                           const float* weight, float* grad_input, float* grad_residual,
                           float* grad_weight, float* grad_bias, const AddNormArgs& args);
void add_norm_backward_bf16(const float* grad_out, const float* normalised, const float* rstd,
                            const float* weight, BFloat16* grad_input, float* grad_residual,
                            float* grad_weight, float* grad_bias, const AddNormArgs& args);
void gelu_forward_f32(const float* in, float* out, int64_t count);
void gelu_forward_bf16(const BFloat16* in, BFloat16* out, int64_t count);
void gelu_backward_f32(const float* grad_out, const float* in, float* grad_in, int64_t count);
void gelu_backward_bf16(const BFloat16* grad_out, const BFloat16* in, BFloat16* grad_in,
                        int64_t count);

}  // namespace libtrain::kernels::LT_ISA
