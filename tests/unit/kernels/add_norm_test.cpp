#include "libtrain/kernels/add_norm.hpp"

#include <algorithm>
#include <functional>

#include "tests/unit/kernels/kernel_test.hpp"

namespace libtrain::kernels {
namespace {

constexpr float kGuard = 12345.0F;

float from_float(float x, float) { return x; }
BFloat16 from_float(float x, BFloat16) { return nearest_bfloat16(x); }

/// Inputs of a call and what the kernels make of them; a guard after each output.
template <class T>
struct Rows {
  Rows(const AddNormArgs& a, uint32_t seed, float mean = 0.0F)
      : args(a),
        residual(numbers(a.rows * a.columns, seed)),
        weight(numbers(a.columns, seed + 1)),
        bias(numbers(a.columns, seed + 2)),
        grad_out(numbers(a.rows * a.columns, seed + 3)),
        out(elements() + 1, kGuard),
        normalised(elements() + 1, kGuard),
        rstd(static_cast<size_t>(a.rows) + 1, kGuard),
        grad_input(elements() + 1, from_float(kGuard, T{})),
        grad_residual(elements() + 1, kGuard),
        grad_weight(numbers(a.columns + 1, seed + 4)),
        grad_bias(numbers(a.columns + 1, seed + 5)) {
    for (const float value : numbers(a.rows * a.columns, seed + 6)) {
      input.push_back(from_float(value, T{}));
    }
    for (float& value : residual) {
      value += mean;
    }
    grad_weight.back() = grad_bias.back() = kGuard;
  }

  static std::vector<float> numbers(int64_t count, uint32_t seed) {
    return random_floats(static_cast<size_t>(count), seed);
  }
  size_t elements() const { return static_cast<size_t>(args.rows * args.columns); }

  void run(AddNormForward<T> forward, AddNormBackward<T> backward) {
    run_rows(forward, backward, 0, args.rows);
  }
  void run_rows(AddNormForward<T> forward, AddNormBackward<T> backward, int64_t row, int64_t rows) {
    AddNormArgs part = args;
    const int64_t at = row * args.columns;
    part.rows = rows;
    part.first += at;
    forward(input.data() + at, residual.data() + at, weight.data(), bias.data(), out.data() + at,
            normalised.data() + at, rstd.data() + row, part);
    backward(grad_out.data() + at, normalised.data() + at, rstd.data() + row, weight.data(),
             grad_input.data() + at, grad_residual.data() + at, grad_weight.data(),
             grad_bias.data(), part);
  }
  bool guards_untouched() const {
    return out.back() == kGuard && normalised.back() == kGuard && rstd.back() == kGuard &&
           widen(grad_input.back()) == widen(from_float(kGuard, T{})) &&
           grad_residual.back() == kGuard && grad_weight.back() == kGuard &&
           grad_bias.back() == kGuard;
  }

  AddNormArgs args;
  std::vector<T> input;
  std::vector<float> residual, weight, bias, grad_out, out, normalised, rstd;
  std::vector<T> grad_input;
  std::vector<float> grad_residual, grad_weight, grad_bias;
};

/// The formulas in double.
template <class T>
struct Reference {
  explicit Reference(const Rows<T>& r)
      : grad_weight(r.grad_weight.begin(), r.grad_weight.end() - 1),
        grad_bias(r.grad_bias.begin(), r.grad_bias.end() - 1) {
    const auto columns = static_cast<size_t>(r.args.columns);
    const auto count = static_cast<double>(columns);
    for (size_t row = 0; row < static_cast<size_t>(r.args.rows); ++row) {
      std::vector<double> x(columns);
      std::vector<double> g(columns);
      double mean = 0;
      for (size_t c = 0; c < columns; ++c) {
        const size_t e = row * columns + c;
        x[c] = widen(r.input[e]) * kept(r.args, e) + r.residual[e];
        mean += x[c] / count;
      }
      double variance = 0;
      for (const double value : x) {
        variance += (value - mean) * (value - mean) / count;
      }
      const double rstd = 1 / std::sqrt(variance + r.args.eps);
      double along = 0;
      double gradient = 0;
      for (size_t c = 0; c < columns; ++c) {
        const double grad = r.grad_out[row * columns + c];
        x[c] = (x[c] - mean) * rstd;
        g[c] = grad * r.weight[c];
        along += g[c] * x[c] / count;
        gradient += g[c] / count;
        grad_weight[c] += grad * x[c];
        grad_bias[c] += grad;
        out.push_back(x[c] * r.weight[c] + r.bias[c]);
      }
      for (size_t c = 0; c < columns; ++c) {
        grad_residual.push_back((g[c] - gradient - x[c] * along) * rstd);
        grad_input.push_back(grad_residual.back() * kept(r.args, row * columns + c));
      }
    }
  }

  static double kept(const AddNormArgs& args, size_t index) {
    const RandomStream& s = args.stream;
    const uint64_t e = static_cast<uint64_t>(args.first) + index;
    const auto words =
        philox4x32({static_cast<uint32_t>(e / 4), s.sample, s.site, s.step},
                   {static_cast<uint32_t>(s.seed), static_cast<uint32_t>(s.seed >> 32)});
    return words[e % 4] >= dropout_threshold(args.dropout) ? 1 / (1 - args.dropout) : 0;
  }

  std::vector<double> out, grad_weight, grad_bias, grad_residual, grad_input;
};

template <class T>
void expect_near(const std::vector<T>& actual, const std::vector<double>& expected, double relative,
                 double absolute, const char* what) {
  ASSERT_EQ(actual.size(), expected.size() + 1) << what;
  for (size_t i = 0; i < expected.size(); ++i) {
    ASSERT_NEAR(widen(actual[i]), expected[i], relative * std::abs(expected[i]) + absolute)
        << what << ", element " << i;
  }
}

class AddNormTest : public KernelTest {
 protected:
  void run(Rows<float>& rows) const {
    rows.run(kernels().add_norm_forward_f32, kernels().add_norm_backward_f32);
  }
  void run(Rows<BFloat16>& rows) const {
    rows.run(kernels().add_norm_forward_bf16, kernels().add_norm_backward_bf16);
  }
};

LT_FOR_EVERY_ISA(AddNormTest);

AddNormArgs random_args(uint32_t seed) {
  std::mt19937_64 generator(seed);
  const int64_t columns[] = {2, 3, 16, 31, 32, 33, 64, 100, 255, 256, 257, 300, 384, 770};
  const int64_t first[] = {0, 1, 2, 3, 4, 384, int64_t{1} << 33};
  const double dropout[] = {0.0, 0.1, 0.5, 0.9};
  const auto word = [&] { return static_cast<uint32_t>(generator()); };
  return {.rows = static_cast<int64_t>(generator() % 6),
          .columns = columns[generator() % std::size(columns)],
          .eps = generator() % 2 == 0 ? 1e-5 : 1e-12,
          .stream = {.seed = generator(), .step = word(), .site = word(), .sample = word()},
          .first = first[generator() % std::size(first)],
          .dropout = dropout[generator() % std::size(dropout)]};
}

/// fp32 rounds each term by 2^-24, and rows of two columns may have an rstd of some hundreds;
/// a gradient in bf16 is then rounded once, by 2^-8.
template <class T>
void follow_the_formulas(const std::function<void(Rows<T>&)>& run) {
  const double rounding = std::is_same_v<T, float> ? 0.0 : 0x1p-8;
  for (uint32_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed=" + std::to_string(seed));
    Rows<T> rows(random_args(seed), seed);
    const Reference<T> expected(rows);
    run(rows);
    const float largest =
        rows.args.rows == 0 ? 0 : *std::max_element(rows.rstd.begin(), rows.rstd.end() - 1);
    const double unit = 2e-6 * std::max(1.0F, largest);
    expect_near(rows.out, expected.out, 3e-7, unit, "out");
    expect_near(rows.grad_weight, expected.grad_weight, 0, unit * 8, "grad_weight");
    expect_near(rows.grad_bias, expected.grad_bias, 0, 4e-6, "grad_bias");
    expect_near(rows.grad_residual, expected.grad_residual, 0, unit * std::max(1.0F, largest) * 4,
                "grad_residual");
    expect_near(rows.grad_input, expected.grad_input, rounding, unit * std::max(1.0F, largest) * 40,
                "grad_input");
    EXPECT_TRUE(rows.guards_untouched());
  }
}

TEST_P(AddNormTest, FollowsTheFormulasInFloat) {
  follow_the_formulas<float>([&](Rows<float>& rows) { run(rows); });
}

TEST_P(AddNormTest, FollowsTheFormulasInBfloat16) {
  follow_the_formulas<BFloat16>([&](Rows<BFloat16>& rows) { run(rows); });
}

/// A mean a thousand times the deviation costs the sum 10 bits, and no more.
TEST_P(AddNormTest, ALargeMeanDoesNotCancelTheVariance) {
  Rows<float> rows({.rows = 4, .columns = 384}, 7, 1000.0F);
  const Reference<float> expected(rows);
  run(rows);
  expect_near(rows.out, expected.out, 0, 1e-3, "out");
}

TEST_P(AddNormTest, HasTheBitsOfTheScalarForm) {
  for (uint32_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE("seed=" + std::to_string(seed));
    Rows<BFloat16> ours(random_args(seed), seed);
    Rows<BFloat16> scalar = ours;
    run(ours);
    scalar.run(table(Isa::kScalar).add_norm_forward_bf16,
               table(Isa::kScalar).add_norm_backward_bf16);
    EXPECT_TRUE(all_same_bits(ours.out, scalar.out));
    EXPECT_TRUE(all_same_bits(ours.grad_input, scalar.grad_input));
    EXPECT_TRUE(all_same_bits(ours.grad_residual, scalar.grad_residual));
    EXPECT_TRUE(all_same_bits(ours.grad_weight, scalar.grad_weight));
    EXPECT_TRUE(all_same_bits(ours.grad_bias, scalar.grad_bias));
  }
}

TEST_P(AddNormTest, RowsOneByOneGiveTheSameAsTogether) {
  for (const int64_t columns : {33, 384}) {
    Rows<float> whole({.rows = 5, .columns = columns, .first = 7, .dropout = 0.3}, 3);
    Rows<float> parts = whole;
    run(whole);
    for (int64_t row = 0; row < 5; ++row) {
      parts.run_rows(kernels().add_norm_forward_f32, kernels().add_norm_backward_f32, row, 1);
    }
    EXPECT_TRUE(all_same_bits(parts.out, whole.out));
    EXPECT_TRUE(all_same_bits(parts.grad_input, whole.grad_input));
    EXPECT_TRUE(all_same_bits(parts.grad_weight, whole.grad_weight));
  }
}

TEST_P(AddNormTest, KeepsNothingForBackwardWhenNotAsked) {
  Rows<float> rows({.rows = 3, .columns = 45, .dropout = 0.2}, 5);
  run(rows);
  std::vector<float> out(rows.out.size(), kGuard);
  kernels().add_norm_forward_f32(rows.input.data(), rows.residual.data(), rows.weight.data(),
                                 rows.bias.data(), out.data(), nullptr, nullptr, rows.args);
  EXPECT_TRUE(all_same_bits(out, rows.out));
}

TEST_P(AddNormTest, NotANumberSpoilsItsRowAlone) {
  Rows<float> rows({.rows = 3, .columns = 40}, 6);
  rows.residual[45] = NAN;
  run(rows);
  for (size_t i = 0; i < rows.elements(); ++i) {
    EXPECT_EQ(std::isnan(rows.out[i]), i / 40 == 1) << i;
  }
}

}  // namespace
}  // namespace libtrain::kernels
