#include <math.h>

#include "libtrain/kernels/attention_dropout.hpp"
#include "libtrain/kernels/attention_pack.hpp"
#include "libtrain/kernels/exponential.hpp"
#include "libtrain/kernels/isa_kernels.hpp"
#include "libtrain/kernels/matmul.hpp"

namespace libtrain::kernels::LT_ISA {
namespace {

constexpr float kLowest = -3.40282347e38F;
constexpr float kInfinity = __builtin_inff();

/// Scores of one tile to exp(score - maximum so far); what earlier tiles left in sum and out is
/// brought to the new maximum (online softmax: Milakov, Gimelshein, arXiv:1805.02867). A NaN
/// spreads over its row; a row of -inf alone gives 0 / 0.
void softmax_tile(const AttentionBuffers& b, int64_t rows, int64_t keys, int64_t head_dim,
                  bool first) {
  const int64_t padded = whole_vectors(keys);
  for (int64_t r = 0; r < rows; ++r) {
    float* const row = b.scores.data + r * b.scores.stride;
    Floats largest = Floats{} + (first ? kLowest : b.row_max[r]);
    for (int64_t j = 0; j < padded; j += kLanes) {
      const Floats score = lanes_below(keys - j) ? load<Floats>(row + j) : -kInfinity;
      largest = maximum(largest, score);
      store(row + j, score);
    }
    const float row_max = largest_lane(largest);
    Floats sums = {};
    for (int64_t j = 0; j < padded; j += kLanes) {
      const Floats value = exponential(load<Floats>(row + j) - row_max);
      sums += value;
      store(row + j, value);
    }
    float row_sum = sum_of_lanes(sums);
    if (!first) {
      const Floats shrink = exponential(Floats{} + (b.row_max[r] - row_max));
      row_sum += b.row_sum[r] * shrink[0];
      for (int64_t c = 0; c < head_dim; c += kLanes) {
        float* const out = b.out.data + r * b.out.stride + c;
        store(out, load<Floats>(out) * shrink);
      }
    }
    b.row_max[r] = row_max;
    b.row_sum[r] = row_sum;
  }
}

void drop_tile(const AttentionArgs& args, const AttentionBuffers& b, int64_t query, int64_t rows,
               int64_t key, int64_t keys) {
  TileDropout dropout(args, query, rows, key, keys, b.numbers);
  for (int64_t r = 0; r < rows; ++r) {
    dropout.start_row(r);
    for (int64_t j = 0; j < keys; j += kLanes) {
      float* const p = b.scores.data + r * b.scores.stride + j;
      store(p, load<Words>(p) & dropout.mask(j));
    }
  }
}

template <class T>
void forward(const T* q, const T* k, const T* v, T* out, float* log_sum_exp, float* workspace,
             const AttentionArgs& args) {
  const int64_t length = args.length;
  const int64_t dim = args.head_dim;
  const AttentionBuffers b(workspace, length, dim);
  const float kept_scale = static_cast<float>(1.0 / (1.0 - args.dropout));
  for (int64_t query = 0; query < length; query += kAttentionBlock) {
    const int64_t rows = smaller(kAttentionBlock, length - query);
    pack(q + query * args.q_stride, args.q_stride, rows, dim, static_cast<float>(args.scale), b.q);
    for (int64_t key = 0; key < length; key += kAttentionBlock) {
      const int64_t keys = smaller(kAttentionBlock, length - key);
      pack_transposed(k + key * args.k_stride, args.k_stride, keys, dim, b.k_columns);
      pack(v + key * args.v_stride, args.v_stride, keys, dim, 1.0F, b.v);
      multiply({b.q.data, b.q.stride, 1}, b.k_columns, b.scores, rows, whole_vectors(keys), dim,
               Store::kReplace);
      softmax_tile(b, rows, keys, dim, key == 0);
      if (args.dropout > 0) {
        drop_tile(args, b, query, rows, key, keys);
      }
      multiply({b.scores.data, b.scores.stride, 1}, b.v, b.out, rows, whole_vectors(dim), keys,
               key == 0 ? Store::kReplace : Store::kAdd);
    }
    for (int64_t r = 0; r < rows; ++r) {
      log_sum_exp[query + r] = b.row_max[r] + logf(b.row_sum[r]);
      unpack({b.out.data + r * b.out.stride, b.out.stride}, 1, dim, kept_scale / b.row_sum[r],
             out + (query + r) * args.out_stride, args.out_stride);
    }
  }
}

}  // namespace

void attention_forward_f32(const float* q, const float* k, const float* v, float* out,
                           float* log_sum_exp, float* workspace, const AttentionArgs& args) {
  forward(q, k, v, out, log_sum_exp, workspace, args);
}

void attention_forward_bf16(const BFloat16* q, const BFloat16* k, const BFloat16* v, BFloat16* out,
                            float* log_sum_exp, float* workspace, const AttentionArgs& args) {
  forward(q, k, v, out, log_sum_exp, workspace, args);
}

}  // namespace libtrain::kernels::LT_ISA
