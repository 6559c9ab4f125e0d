#pragma once

#include <cstdint>

#include "libtrain/core/api.hpp"
#include "libtrain/kernels/bfloat16.hpp"
#include "libtrain/kernels/random.hpp"

namespace libtrain::kernels {

/// softmax(Q K^T * scale) V for one head of one sequence, full (not causal) attention, dropout on
/// the probabilities. Row t of q, k, v, out and their gradients starts t * stride elements after
/// the pointer and holds head_dim elements. Arithmetic is fp32 whatever the element type. Element
/// index for dropout: (head * length + query) * length + key.
struct AttentionArgs {
  int64_t length = 0;    ///< tokens of this sequence
  int64_t head_dim = 0;  ///< at most kMaxHeadDim
  int64_t head = 0;      ///< which head this call is for
  int64_t q_stride = 0;
  int64_t k_stride = 0;
  int64_t v_stride = 0;
  int64_t out_stride = 0;     ///< of out and grad_out
  int64_t grad_q_stride = 0;  ///< backward only
  int64_t grad_k_stride = 0;
  int64_t grad_v_stride = 0;
  double scale = 1.0;    ///< usually 1 / sqrt(head_dim)
  double dropout = 0.0;  ///< probability in [0, 1)
  RandomStream stream = {};
};

inline constexpr int64_t kMaxHeadDim = 256;

/// fp32 elements of scratch memory a call needs; one block per thread, any contents.
LT_API int64_t attention_workspace(int64_t length, int64_t head_dim);

/// `log_sum_exp[t]` receives the softmax's log normaliser of query t, kept for backward.
template <class T>
using AttentionForward = void (*)(const T* q, const T* k, const T* v, T* out, float* log_sum_exp,
                                  float* workspace, const AttentionArgs& args);
template <class T>
using AttentionBackward = void (*)(const T* q, const T* k, const T* v, const T* out,
                                   const float* log_sum_exp, const T* grad_out, T* grad_q,
                                   T* grad_k, T* grad_v, float* workspace,
                                   const AttentionArgs& args);

}  // namespace libtrain::kernels
