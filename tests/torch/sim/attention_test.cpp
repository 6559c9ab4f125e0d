#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <optional>

#include "libtrain/sim/sim.hpp"
#include "sim_support.hpp"

namespace libtrain::sim {
namespace {

using test::same_bits;
using test::values;

/// One kind of attention over [2, heads, 7, 8].
struct Attention {
  const char* name;
  bool is_causal = false;
  bool has_mask = false;
  int64_t key_heads = 4;
  c10::ScalarType dtype = at::kFloat;
  bool flash = true;  ///< allowed; else plain matrix products are left
};

class AttentionTest : public testing::TestWithParam<Attention> {
 protected:
  AttentionTest() { at::globalContext().setSDPUseFlash(GetParam().flash); }
  ~AttentionTest() override { at::globalContext().setSDPUseFlash(true); }

  /// Output and the gradients of query, key and value.
  static std::vector<at::Tensor> run(const at::Device& on) {
    const auto input = [&on](int64_t heads, uint64_t seed) {
      return values({2, heads, 7, 8}, seed).to(on, GetParam().dtype).requires_grad_();
    };
    const std::vector<at::Tensor> inputs{input(4, 1), input(GetParam().key_heads, 2),
                                         input(GetParam().key_heads, 3)};
    std::optional<at::Tensor> mask;
    if (GetParam().has_mask) {
      mask = (values({2, 1, 7, 7}, 4) > -1).to(on);
    }
    const at::Tensor output =
        at::scaled_dot_product_attention(inputs[0], inputs[1], inputs[2], mask, 0.0,
                                         GetParam().is_causal, {}, GetParam().key_heads != 4);
    output.backward(values({2, 4, 7, 8}, 5).to(on, GetParam().dtype));
    return {output.detach(), inputs[0].grad(), inputs[1].grad(), inputs[2].grad()};
  }
};

TEST_P(AttentionTest, IsTheCpusBitForBitForwardAndBackward) {
  const std::vector<at::Tensor> expected = run(at::kCPU);
  const std::vector<at::Tensor> got = run(device());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(device(), got[i].device());
    EXPECT_TRUE(same_bits(expected[i], got[i])) << i;
  }
}

TEST_P(AttentionTest, ChoosesAsTheCpu) {
  const at::Tensor x = values({2, 4, 7, 8}, 1);
  const auto node = [&x](const at::Device& on) {
    const at::Tensor input = x.to(on).requires_grad_();
    return at::scaled_dot_product_attention(input, input, input).grad_fn()->name();
  };
  EXPECT_EQ(node(at::kCPU), node(device()));
  EXPECT_EQ(GetParam().flash, node(device()).find("FlashAttention") != std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, AttentionTest,
    testing::Values(Attention{"plain"}, Attention{"causal", true}, Attention{"mask", false, true},
                    Attention{"grouped", false, false, 2},
                    Attention{"bf16", true, false, 4, at::kBFloat16},
                    Attention{"math", false, false, 4, at::kFloat, false},
                    Attention{"math_causal", true, false, 4, at::kFloat, false},
                    Attention{"math_mask", false, true, 4, at::kFloat, false},
                    Attention{"math_bf16", true, false, 4, at::kBFloat16, false}),
    [](const auto& info) { return info.param.name; });

TEST(AttentionDropout, DrawsFromTheDevice) {
  at::Generator generator = at::globalContext().defaultGenerator(device());
  const at::Tensor x = values({2, 4, 7, 8}, 1).to(device()).requires_grad_();
  const auto run = [&] { return at::scaled_dot_product_attention(x, x, x, {}, 0.5); };
  generator.set_current_seed(1);
  const at::Tensor first = run();
  EXPECT_GT(generator.get_offset(), 0u);
  generator.set_current_seed(1);
  EXPECT_TRUE(same_bits(first, run()));
  EXPECT_FALSE(same_bits(first, run()));
  run().sum().backward();
  EXPECT_EQ(device(), x.grad().device());
}

}  // namespace
}  // namespace libtrain::sim
