#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "libtrain/core/error.hpp"
#include "libtrain/sim/sim.hpp"
#include "sim_support.hpp"

namespace libtrain::sim {
namespace {

using test::same_bits;

at::TensorOptions on_sim() { return at::TensorOptions(device()); }

at::Generator new_generator() { return at::globalContext().defaultGenerator(device()).clone(); }

/// Random operators, on a device's tensor x: float [40] of ones.
struct Draw {
  const char* name;
  std::function<at::Tensor(const at::Tensor& x)> run;
};

const std::vector<Draw> kDraws{
    {"normal", [](const at::Tensor& x) { return x.clone().normal_(); }},
    {"uniform", [](const at::Tensor& x) { return x.clone().uniform_(); }},
    {"bernoulli", [](const at::Tensor& x) { return x.clone().bernoulli_(0.5); }},
    {"exponential", [](const at::Tensor& x) { return x.clone().exponential_(); }},
    {"randint", [](const at::Tensor& x) { return at::randint(100, {40}, x.options()); }},
    {"randn", [](const at::Tensor& x) { return at::randn({3}, x.options()); }},
    {"rand_like", [](const at::Tensor& x) { return at::rand_like(x); }},
    {"randperm",
     [](const at::Tensor& x) { return at::randperm(40, x.options().dtype(at::kLong)); }},
    {"multinomial", [](const at::Tensor& x) { return at::multinomial(x, 5); }},
    {"dropout", [](const at::Tensor& x) { return at::dropout(x, 0.5, true); }},
};

class Draws : public testing::TestWithParam<Draw> {
 protected:
  static at::Tensor draw() { return GetParam().run(at::ones({40}, on_sim())); }
  at::Generator generator = at::globalContext().defaultGenerator(device());
};

TEST_P(Draws, AreTheSameFromTheSameSeedAndOffset) {
  generator.set_current_seed(5);
  at::rand({700}, on_sim());
  const uint64_t offset = generator.get_offset();
  const at::Tensor state = generator.get_state();
  const at::Tensor first = draw();
  EXPECT_GT(generator.get_offset(), offset);
  const at::Tensor second = draw();
  EXPECT_FALSE(same_bits(first, second));

  generator.set_state(state);
  EXPECT_EQ(5u, generator.current_seed());
  EXPECT_EQ(offset, generator.get_offset());
  EXPECT_TRUE(same_bits(first, draw()));
  EXPECT_TRUE(same_bits(second, draw()));
  generator.set_current_seed(5);
  generator.set_offset(offset);
  EXPECT_TRUE(same_bits(first, draw()));
}

TEST_P(Draws, LeaveTheHostsGeneratorAlone) {
  const at::Tensor before = at::detail::getDefaultCPUGenerator().get_state();
  draw();
  EXPECT_TRUE(same_bits(before, at::detail::getDefaultCPUGenerator().get_state()));
}

INSTANTIATE_TEST_SUITE_P(Each, Draws, testing::ValuesIn(kDraws),
                         [](const auto& info) { return info.param.name; });

TEST(Generator, DrawsTheNumbersOfTheCpuGeneratorWithTheSameSeed) {
  at::Generator generator = at::globalContext().defaultGenerator(device());
  at::Generator on_cpu = at::make_generator<at::CPUGeneratorImpl>(11);
  generator.set_current_seed(11);
  EXPECT_TRUE(same_bits(at::randn({40}, on_cpu), at::randn({40}, on_sim())));
  EXPECT_TRUE(same_bits(at::rand({8}, on_cpu), at::rand({8}, generator, on_sim())));
}

TEST(Generator, HasCudasStateOfSeedAndOffset) {
  at::Generator generator = at::globalContext().defaultGenerator(device());
  generator.set_current_seed(7);
  EXPECT_EQ(0u, generator.get_offset());
  at::rand({1000}, on_sim());
  EXPECT_EQ(1000u, generator.get_offset());  // 32 bits a float
  const at::Tensor state = generator.get_state();
  EXPECT_EQ(at::kByte, state.scalar_type());
  ASSERT_EQ(16, state.numel());
  uint64_t seed_and_offset[2];
  std::memcpy(seed_and_offset, state.const_data_ptr(), 16);
  EXPECT_EQ(7u, seed_and_offset[0]);
  EXPECT_EQ(1000u, seed_and_offset[1]);
  EXPECT_THAT([&] { generator.set_state(at::zeros({17}, at::kByte)); },
              testing::ThrowsMessage<InvalidOption>(testing::HasSubstr("state has 17 bytes")));
}

/// An offset is where drawing one number at a time leads, also at the ends of the engine's blocks
/// of 624.
TEST(Generator, CountsAndFindsEveryOffset) {
  at::Generator generator = new_generator();
  generator.set_current_seed(3);
  const at::Tensor numbers = at::rand({2000}, generator, on_sim());
  for (const int64_t offset : {0, 1, 623, 624, 625, 1247, 1248, 1249, 1900}) {
    generator.set_offset(static_cast<uint64_t>(offset));
    EXPECT_EQ(static_cast<uint64_t>(offset), generator.get_offset());
    const at::Tensor next = at::rand({1}, generator, on_sim());
    EXPECT_TRUE(same_bits(numbers.narrow(0, offset, 1), next)) << offset;
    EXPECT_EQ(static_cast<uint64_t>(offset) + 1, generator.get_offset());
  }
}

TEST(Generator, IsClonedWithItsState) {
  at::Generator generator = new_generator();
  generator.set_current_seed(3);
  at::rand({10}, generator, on_sim());
  at::Generator clone = generator.clone();
  EXPECT_EQ(10u, clone.get_offset());
  EXPECT_TRUE(same_bits(at::rand({10}, generator, on_sim()), at::rand({10}, clone, on_sim())));
}

TEST(Generator, IsOnePerDevice) {
  at::Generator other = at::globalContext().defaultGenerator(device(1));
  other.set_current_seed(1);
  at::rand({10}, on_sim());
  EXPECT_EQ(0u, other.get_offset());
  at::rand({10}, at::TensorOptions(device(1)));
  EXPECT_EQ(10u, other.get_offset());
}

TEST(Dropout, ScalesWhatStaysAndHasItsGradient) {
  const at::Tensor x = at::ones({1000}, on_sim()).requires_grad_();
  const at::Tensor y = at::dropout(x, 0.25, true);
  y.sum().backward();
  EXPECT_TRUE(same_bits(y, x.grad()));
  const double kept = (y != 0).sum().item<double>();
  EXPECT_NEAR(750, kept, 60);
  EXPECT_NEAR(1.0 / 0.75, y.max().item<double>(), 1e-6);
  EXPECT_TRUE(same_bits(x, at::dropout(x, 0.25, false)));
  EXPECT_EQ(0, at::dropout(x, 1.0, true).sum().item<double>());
}

}  // namespace
}  // namespace libtrain::sim
