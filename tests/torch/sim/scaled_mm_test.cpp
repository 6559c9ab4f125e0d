#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <functional>

#include "libtrain/core/error.hpp"
#include "libtrain/sim/sim.hpp"
#include "sim_support.hpp"

namespace libtrain::sim {
namespace {

using test::same_bits;
using test::values;

/// The arguments of _scaled_mm, right as they are: a [5, 32], b [32, 16], on `on`.
struct Arguments {
  explicit Arguments(const at::Device& on)
      : a(values({5, 32}, 1).to(at::kFloat8_e4m3fn).to(on)),
        b(values({16, 32}, 2).to(at::kFloat8_e4m3fn).to(on).t()),
        scale_a(at::full({}, 0.5, at::TensorOptions(on))),
        scale_b(at::full({}, 3.0, at::TensorOptions(on))) {}

  at::Tensor run() const { return at::_scaled_mm(a, b, scale_a, scale_b, bias, {}, out_dtype); }
  /// By the definition.
  at::Tensor product() const {
    return at::mm(a.to(at::kFloat).mul(scale_a), b.to(at::kFloat).mul(scale_b));
  }

  at::Tensor a, b, scale_a, scale_b;
  std::optional<at::Tensor> bias;
  c10::ScalarType out_dtype = at::kBFloat16;
};

TEST(ScaledMm, IsTheProductOfTheScaledValues) {
  Arguments on_cpu(at::kCPU);
  Arguments on_sim(device());
  EXPECT_TRUE(same_bits(on_cpu.product().to(at::kBFloat16), on_sim.run()));
  for (const auto dtype : {at::kFloat, at::kHalf, at::kBFloat16, at::kFloat8_e4m3fn}) {
    on_cpu.out_dtype = on_sim.out_dtype = dtype;
    EXPECT_EQ(dtype, on_sim.run().scalar_type());
    EXPECT_TRUE(same_bits(on_cpu.run(), on_sim.run())) << c10::toString(dtype);
  }
}

TEST(ScaledMm, AddsABias) {
  Arguments arguments(device());
  arguments.bias = values({16}, 3).to(device(), at::kBFloat16);
  EXPECT_TRUE(same_bits((arguments.product() + arguments.bias->to(at::kFloat)).to(at::kBFloat16),
                        arguments.run()));
}

TEST(ScaledMm, ScalesRows) {
  Arguments arguments(device());
  arguments.scale_a = values({5, 1}, 4).abs().to(device());
  arguments.scale_b = values({1, 16}, 5).abs().to(device());
  EXPECT_TRUE(same_bits(arguments.product().to(at::kBFloat16), arguments.run()));
}

TEST(ScaledMm, TakesOneOperandOfTheWiderRange) {
  Arguments arguments(device());
  arguments.a = arguments.a.to(at::kFloat).to(at::kFloat8_e5m2);
  EXPECT_TRUE(same_bits(arguments.product().to(at::kBFloat16), arguments.run()));
}

TEST(ScaledMm, WritesToATensor) {
  const Arguments arguments(device());
  at::Tensor out = at::empty({0}, at::TensorOptions(device()).dtype(at::kBFloat16));
  at::_scaled_mm_out(out, arguments.a, arguments.b, arguments.scale_a, arguments.scale_b, {}, {},
                     at::kBFloat16);
  EXPECT_TRUE(same_bits(arguments.run(), out));
}

/// One rule of CUDA's that is broken, and what the error says.
struct Broken {
  const char* name;
  std::function<void(Arguments&)> change;
  const char* expected;
};

const at::Device& on() {
  static const at::Device on = device();
  return on;
}

const std::vector<Broken> kBroken{
    {"a_is_no_matrix",
     [](Arguments& x) {
       x.a = x.a.view({1, 5, 32});
     },
     "expected a matrix"},
    {"a_has_16_bits", [](Arguments& x) { x.a = x.a.to(at::kFloat).to(at::kHalf); },
     "a is Half, expected Float8_e4m3fn or Float8_e5m2"},
    {"sizes_differ",
     [](Arguments& x) {
       x.b = at::zeros({16, 48}, on()).to(at::kFloat8_e4m3fn).t();
     },
     "expected [M, K] and [K, N]"},
    {"k_is_odd",
     [](Arguments& x) {
       x.a = at::zeros({5, 24}, on()).to(at::kFloat8_e4m3fn);
       x.b = at::zeros({16, 24}, on()).to(at::kFloat8_e4m3fn).t();
     },
     "a=[5, 24], expected its columns divisible by 16"},
    {"n_is_odd", [](Arguments& x) { x.b = x.b.slice(1, 0, 9); },
     "b=[32, 9], expected its columns divisible by 16"},
    {"a_is_column_major",
     [](Arguments& x) {
       x.a = at::zeros({32, 5}, on()).to(at::kFloat8_e4m3fn).t();
     },
     "a has strides [1, 5], expected it row-major"},
    {"b_is_row_major", [](Arguments& x) { x.b = x.b.contiguous(); },
     "b has strides [16, 1], expected it column-major"},
    {"both_are_wide",
     [](Arguments& x) {
       x.a = x.a.to(at::kFloat).to(at::kFloat8_e5m2);
       x.b = at::zeros({16, 32}, on()).to(at::kFloat8_e5m2).t();
     },
     "both Float8_e5m2"},
    {"scale_is_16_bits", [](Arguments& x) { x.scale_a = x.scale_a.to(at::kHalf); },
     "scale_a is Half, expected Float"},
    {"scale_of_other_shape",
     [](Arguments& x) {
       x.scale_a = at::ones({5}, on());
       x.scale_b = at::ones({16}, on());
     },
     "scale_a=[5], scale_b=[16], expected one value each, or contiguous [5, 1] and [1, 16]"},
    {"scale_of_one_side",
     [](Arguments& x) {
       x.scale_a = at::ones({5, 1}, on());
     },
     "expected one value each, or"},
    {"rows_are_scaled_to_fp32",
     [](Arguments& x) {
       x.scale_a = at::ones({5, 1}, on());
       x.scale_b = at::ones({1, 16}, on());
       x.out_dtype = at::kFloat;
     },
     "out_dtype=Float, expected BFloat16 with a scale for each row"},
    {"bias_is_short",
     [](Arguments& x) { x.bias = at::ones({15}, at::TensorOptions(on()).dtype(at::kBFloat16)); },
     "bias=[15], expected 16 values"},
    {"bias_is_fp32", [](Arguments& x) { x.bias = at::ones({16}, on()); },
     "bias is Float, expected BFloat16 for BFloat16 results"},
    {"bias_of_fp32_results",
     [](Arguments& x) {
       x.bias = at::ones({16}, at::TensorOptions(on()).dtype(at::kBFloat16));
       x.out_dtype = at::kFloat;
     },
     "out_dtype=Float, expected another with a bias"},
};

class ScaledMmRules : public testing::TestWithParam<Broken> {};

TEST_P(ScaledMmRules, AreNamedWhenBroken) {
  Arguments arguments(device());
  GetParam().change(arguments);
  EXPECT_THAT([&] { arguments.run(); },
              testing::ThrowsMessage<Error>(testing::HasSubstr(GetParam().expected)));
}

INSTANTIATE_TEST_SUITE_P(Each, ScaledMmRules, testing::ValuesIn(kBroken),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace libtrain::sim
