#include "libtrain/kernels/attention_dropout.hpp"
#include "libtrain/kernels/attention_pack.hpp"
#include "libtrain/kernels/exponential.hpp"
#include "libtrain/kernels/isa_kernels.hpp"
#include "libtrain/kernels/matmul.hpp"

namespace libtrain::kernels::LT_ISA {
namespace {

/// One tile, element by element: scores -> dropped probabilities, gradient of those -> gradient of
/// the scores: P * (kept * gradient - delta), where delta is the row sum of grad_out * out (Dao et
/// al., arXiv:2205.14135, appendix B).
template <bool kDropout>
void softmax_backward_tile(const AttentionArgs& args, const AttentionBuffers& b,
                           const float* log_sum_exp, int64_t query, int64_t rows, int64_t key,
                           int64_t keys) {
  const float kept_scale = static_cast<float>(1.0 / (1.0 - args.dropout));
  TileDropout dropout(args, query, kDropout ? rows : 0, key, keys, b.numbers);
  for (int64_t r = 0; r < rows; ++r) {
    if constexpr (kDropout) {
      dropout.start_row(r);
    }
    float* const scores = b.scores.data + r * b.scores.stride;
    float* const grads = b.grad_scores.data + r * b.grad_scores.stride;
    for (int64_t j = 0; j < keys; j += kLanes) {
      const Floats p = exponential(load<Floats>(scores + j) - log_sum_exp[query + r]);
      Floats dropped = p;
      Floats grad = load<Floats>(grads + j);
      if constexpr (kDropout) {
        const Words kept = dropout.mask(j);
        dropped = Floats(Words(p * kept_scale) & kept);
        grad = Floats(Words(grad * kept_scale) & kept);
      }
      store(scores + j, dropped);
      store(grads + j, p * (grad - b.delta[query + r]));
    }
  }
}

template <class T>
void row_products(const T* a, const T* b, int64_t stride, int64_t rows, int64_t columns,
                  float* out) {
  for (int64_t r = 0; r < rows; ++r) {
    Floats sums = {};
    for (int64_t c = 0; c < columns; c += kLanes) {
      sums += load_row(a + r * stride, c, columns) * load_row(b + r * stride, c, columns);
    }
    out[r] = sum_of_lanes(sums);
  }
}

template <class T>
void backward(const T* q, const T* k, const T* v, const T* out, const float* log_sum_exp,
              const T* grad_out, T* grad_q, T* grad_k, T* grad_v, float* workspace,
              const AttentionArgs& args) {
  const int64_t length = args.length;
  const int64_t dim = args.head_dim;
  const int64_t padded_dim = whole_vectors(dim);
  const float scale = static_cast<float>(args.scale);
  const AttentionBuffers b(workspace, length, dim);
  row_products(out, grad_out, args.out_stride, length, dim, b.delta);
  for (int64_t key = 0; key < length; key += kAttentionBlock) {
    const int64_t keys = smaller(kAttentionBlock, length - key);
    pack(k + key * args.k_stride, args.k_stride, keys, dim, 1.0F, b.k);
    pack_transposed(k + key * args.k_stride, args.k_stride, keys, dim, b.k_columns);
    pack_transposed(v + key * args.v_stride, args.v_stride, keys, dim, b.v_columns);
    for (int64_t query = 0; query < length; query += kAttentionBlock) {
      const int64_t rows = smaller(kAttentionBlock, length - query);
      const Store by_query = query == 0 ? Store::kReplace : Store::kAdd;
      const Store by_key = key == 0 ? Store::kReplace : Store::kAdd;
      pack(q + query * args.q_stride, args.q_stride, rows, dim, scale, b.q);
      pack(grad_out + query * args.out_stride, args.out_stride, rows, dim, 1.0F, b.out);
      multiply({b.q.data, b.q.stride, 1}, b.k_columns, b.scores, rows, whole_vectors(keys), dim,
               Store::kReplace);
      multiply({b.out.data, b.out.stride, 1}, b.v_columns, b.grad_scores, rows, whole_vectors(keys),
               dim, Store::kReplace);
      (args.dropout > 0
           ? softmax_backward_tile<true>
           : softmax_backward_tile<false>)(args, b, log_sum_exp, query, rows, key, keys);
      multiply({b.scores.data, 1, b.scores.stride}, b.out, b.grad_v, keys, padded_dim, rows,
               by_query);
      multiply({b.grad_scores.data, 1, b.grad_scores.stride}, b.q, b.grad_k, keys, padded_dim, rows,
               by_query);
      multiply({b.grad_scores.data, b.grad_scores.stride, 1}, b.k,
               {b.grad_q.data + query * b.grad_q.stride, b.grad_q.stride}, rows, padded_dim, keys,
               by_key);
    }
    unpack(b.grad_k, keys, dim, 1.0F, grad_k + key * args.grad_k_stride, args.grad_k_stride);
    unpack(b.grad_v, keys, dim, 1.0F, grad_v + key * args.grad_v_stride, args.grad_v_stride);
  }
  unpack(b.grad_q, length, dim, scale, grad_q, args.grad_q_stride);
}

}  // namespace

void attention_backward_f32(const float* q, const float* k, const float* v, const float* out,
                            const float* log_sum_exp, const float* grad_out, float* grad_q,
                            float* grad_k, float* grad_v, float* workspace,
                            const AttentionArgs& args) {
  backward(q, k, v, out, log_sum_exp, grad_out, grad_q, grad_k, grad_v, workspace, args);
}

void attention_backward_bf16(const BFloat16* q, const BFloat16* k, const BFloat16* v,
                             const BFloat16* out, const float* log_sum_exp,
                             const BFloat16* grad_out, BFloat16* grad_q, BFloat16* grad_k,
                             BFloat16* grad_v, float* workspace, const AttentionArgs& args) {
  backward(q, k, v, out, log_sum_exp, grad_out, grad_q, grad_k, grad_v, workspace, args);
}

}  // namespace libtrain::kernels::LT_ISA
