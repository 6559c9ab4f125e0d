#include "libtrain/kernels/add_norm.hpp"

#include "libtrain/kernels/column_groups.hpp"
#include "libtrain/kernels/isa_kernels.hpp"
#include "libtrain/kernels/row_dropout.hpp"

namespace libtrain::kernels::LT_ISA {
namespace {

/// body(group, drawn) for the columns of a row whose first element is `first`; dropout.apply(x,
/// drawn + i * kLanes) is for the group's vector i.
template <class Body>
[[gnu::always_inline]] inline void for_dropped_groups(RowDropout& dropout, int64_t first,
                                                      int64_t columns, const Body& body) {
  for (int64_t begin = 0; begin < columns; begin += RowDropout::kMostDrawn) {
    const int64_t rest = columns - begin;
    const int64_t count = rest < RowDropout::kMostDrawn ? rest : RowDropout::kMostDrawn;
    dropout.draw(first + begin, count);
    for_groups(
        begin, begin + count, [&](auto group) __attribute__((always_inline)) {
          body(group, group.first - begin);
        });
  }
}

/// Leaves dropout(input) + residual in `sum` and returns its mean.
template <class T>
float add_row(const T* input, const float* residual, float* sum, RowDropout& dropout, int64_t first,
              int64_t columns) {
  RowSum total;
  for_dropped_groups(
      dropout, first, columns, [&](auto group, int64_t drawn) __attribute__((always_inline)) {
#pragma GCC unroll 8
        for (int i = 0; i < kGroupVectors; ++i) {
          const Floats x =
              dropout.apply(group.load(input, i), drawn + i * kLanes) + group.load(residual, i);
          group.store(sum, i, x);
          total.add(i, x);
        }
      });
  return total.total() / static_cast<float>(columns);
}

float variance(const float* row, float mean, int64_t columns) {
  RowSum total;
  for_groups(
      0, columns, [&](auto group) __attribute__((always_inline)) {
#pragma GCC unroll 8
        for (int i = 0; i < kGroupVectors; ++i) {
          const Floats difference = group.load(row, i, mean) - mean;
          total.add(i, difference * difference);
        }
      });
  return total.total() / static_cast<float>(columns);
}

/// `out` holds the sums before.
void normalise_row(float* out, float* normalised, float mean, float rstd, const float* weight,
                   const float* bias, int64_t columns) {
  for_groups(
      0, columns, [&](auto group) __attribute__((always_inline)) {
#pragma GCC unroll 8
        for (int i = 0; i < kGroupVectors; ++i) {
          const Floats x = (group.load(out, i) - mean) * rstd;
          if (normalised != nullptr) {
            group.store(normalised, i, x);
          }
          group.store(out, i, x * group.load(weight, i) + group.load(bias, i));
        }
      });
}

template <class T>
void forward(const T* input, const float* residual, const float* weight, const float* bias,
             float* out, float* normalised, float* rstd, const AddNormArgs& args) {
  const int64_t columns = args.columns;
  RowDropout dropout(args.stream, args.dropout);
  for (int64_t row = 0; row < args.rows; ++row) {
    const int64_t at = row * columns;
    const float mean =
        add_row(input + at, residual + at, out + at, dropout, args.first + at, columns);
    const float scale =
        1.0F / __builtin_sqrtf(variance(out + at, mean, columns) + static_cast<float>(args.eps));
    normalise_row(out + at, normalised != nullptr ? normalised + at : nullptr, mean, scale, weight,
                  bias, columns);
    if (rstd != nullptr) {
      rstd[row] = scale;
    }
  }
}

/// Means over a row of the gradient of `normalised`, and of its product with `normalised`.
struct Means {
  float gradient;
  float product;
};

Means reduce_row(const float* grad_out, const float* normalised, const float* weight,
                 float* grad_weight, float* grad_bias, int64_t columns) {
  RowSum gradients;
  RowSum products;
  for_groups(
      0, columns, [&](auto group) __attribute__((always_inline)) {
#pragma GCC unroll 8
        for (int i = 0; i < kGroupVectors; ++i) {
          const Floats grad = group.load(grad_out, i);
          const Floats x = group.load(normalised, i);
          const Floats weighted = grad * group.load(weight, i);
          gradients.add(i, weighted);
          products.add(i, weighted * x);
          group.store(grad_weight, i, group.load(grad_weight, i) + grad * x);
          group.store(grad_bias, i, group.load(grad_bias, i) + grad);
        }
      });
  const auto count = static_cast<float>(columns);
  return {gradients.total() / count, products.total() / count};
}

template <class T>
void backward(const float* grad_out, const float* normalised, const float* rstd,
              const float* weight, T* grad_input, float* grad_residual, float* grad_weight,
              float* grad_bias, const AddNormArgs& args) {
  const int64_t columns = args.columns;
  RowDropout dropout(args.stream, args.dropout);
  for (int64_t row = 0; row < args.rows; ++row) {
    const int64_t at = row * columns;
    const Means means =
        reduce_row(grad_out + at, normalised + at, weight, grad_weight, grad_bias, columns);
    for_dropped_groups(
        dropout, args.first + at,
        columns, [&](auto group, int64_t drawn) __attribute__((always_inline)) {
#pragma GCC unroll 8
          for (int i = 0; i < kGroupVectors; ++i) {
            const Floats weighted = group.load(grad_out + at, i) * group.load(weight, i);
            const Floats along = group.load(normalised + at, i) * means.product;
            const Floats grad = (weighted - means.gradient - along) * rstd[row];
            group.store(grad_residual + at, i, grad);
            group.store(grad_input + at, i, dropout.apply(grad, drawn + i * kLanes));
          }
        });
  }
}

}  // namespace

void add_norm_forward_f32(const float* input, const float* residual, const float* weight,
                          const float* bias, float* out, float* normalised, float* rstd,
                          const AddNormArgs& args) {
  forward(input, residual, weight, bias, out, normalised, rstd, args);
}

void add_norm_forward_bf16(const BFloat16* input, const float* residual, const float* weight,
                           const float* bias, float* out, float* normalised, float* rstd,
                           const AddNormArgs& args) {
  forward(input, residual, weight, bias, out, normalised, rstd, args);
}

void add_norm_backward_f32(const float* grad_out, const float* normalised, const float* rstd,
                           const float* weight, float* grad_input, float* grad_residual,
                           float* grad_weight, float* grad_bias, const AddNormArgs& args) {
  backward(grad_out, normalised, rstd, weight, grad_input, grad_residual, grad_weight, grad_bias,
           args);
}

void add_norm_backward_bf16(const float* grad_out, const float* normalised, const float* rstd,
                            const float* weight, BFloat16* grad_input, float* grad_residual,
                            float* grad_weight, float* grad_bias, const AddNormArgs& args) {
  backward(grad_out, normalised, rstd, weight, grad_input, grad_residual, grad_weight, grad_bias,
           args);
}

}  // namespace libtrain::kernels::LT_ISA
