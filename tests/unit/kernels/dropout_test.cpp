#include "libtrain/kernels/dropout.hpp"

#include "tests/unit/kernels/kernel_test.hpp"

namespace libtrain::kernels {
namespace {

class DropoutTest : public KernelTest {
 protected:
  void run(const float* in, float* out, const DropoutArgs& args) const {
    kernels().dropout_f32(in, out, args);
  }
  void run(const BFloat16* in, BFloat16* out, const DropoutArgs& args) const {
    kernels().dropout_bf16(in, out, args);
  }
};

LT_FOR_EVERY_ISA(DropoutTest);

void round_to(float value, float& out) { out = value; }
void round_to(float value, BFloat16& out) { out = nearest_bfloat16(value); }

/// The definition, one element at a time.
template <class T>
std::vector<T> by_definition(const std::vector<T>& in, const DropoutArgs& args) {
  const RandomStream& s = args.stream;
  const float scale = static_cast<float>(1.0 / (1.0 - args.probability));
  std::vector<T> out(in.size());
  for (size_t i = 0; i < in.size(); ++i) {
    const auto element = static_cast<uint64_t>(args.first) + i;
    const auto words =
        philox4x32({static_cast<uint32_t>(element / 4), s.sample, s.site, s.step},
                   {static_cast<uint32_t>(s.seed), static_cast<uint32_t>(s.seed >> 32)});
    const bool kept = words[element % 4] >= dropout_threshold(args.probability);
    round_to(kept ? widen(in[i]) * scale : 0.0F, out[i]);
  }
  return out;
}

std::vector<BFloat16> to_bfloat16(const std::vector<float>& x) {
  std::vector<BFloat16> out;
  for (const float value : x) {
    out.push_back(nearest_bfloat16(value));
  }
  return out;
}

DropoutArgs random_args(uint32_t seed) {
  std::mt19937_64 generator(seed);
  const int64_t first[] = {0, 1, 2, 3, 4, 63, int64_t{1} << 33, (int64_t{1} << 34) - 200};
  const double probability[] = {0.1, 0.5, 0.9, 0.999};
  const auto word = [&] { return static_cast<uint32_t>(generator()); };
  return {.stream = {.seed = generator(), .step = word(), .site = word(), .sample = word()},
          .first = first[generator() % 8],
          .count = static_cast<int64_t>(generator() % 200),
          .probability = probability[generator() % 4]};
}

template <class T>
std::vector<T> make_input(int64_t count, uint32_t seed) {
  const std::vector<float> x = random_floats(static_cast<size_t>(count), seed, 0.1);
  if constexpr (std::is_same_v<T, float>) {
    return x;
  } else {
    return to_bfloat16(x);
  }
}

TEST_P(DropoutTest, FollowsTheDefinitionForAnyStartCountAndAlignment) {
  const auto check = [&]<class T>(T sentinel, uint32_t seed) {
    const DropoutArgs args = random_args(seed);
    const std::vector<T> in = make_input<T>(args.count, seed);
    const std::vector<T> expected = by_definition(in, args);
    const size_t shift = seed % 5;
    std::vector<T> memory(in.size() + 16, sentinel);
    run(in.data(), memory.data() + shift, args);
    EXPECT_TRUE(
        all_same_bits({memory.begin() + shift, memory.begin() + shift + in.size()}, expected));
    EXPECT_TRUE(
        all_same_bits({memory.begin(), memory.begin() + shift}, std::vector<T>(shift, sentinel)))
        << "wrote before the output";
    EXPECT_TRUE(all_same_bits({memory.begin() + shift + in.size(), memory.end()},
                              std::vector<T>(16 - shift, sentinel)))
        << "wrote behind the output";
    std::vector<T> in_place = in;
    run(in_place.data(), in_place.data(), args);
    EXPECT_TRUE(all_same_bits(in_place, expected)) << "in place";
  };
  for (uint32_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE("seed=" + std::to_string(seed));
    check(-7.0F, seed);
    check(BFloat16{0x1234}, seed);
  }
}

TEST_P(DropoutTest, PartsGiveTheSameAsTheWhole) {
  for (uint32_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE("seed=" + std::to_string(seed));
    DropoutArgs args = random_args(seed);
    const std::vector<float> in = random_floats(static_cast<size_t>(args.count), seed);
    std::vector<float> whole(in.size());
    std::vector<float> parts(in.size());
    run(in.data(), whole.data(), args);
    std::mt19937 generator(seed);
    for (int64_t done = 0; done < args.count;) {
      DropoutArgs part = args;
      part.first += done;
      part.count = std::min<int64_t>(args.count - done, 1 + generator() % 40);
      run(in.data() + done, parts.data() + done, part);
      done += part.count;
    }
    EXPECT_TRUE(all_same_bits(parts, whole));
  }
}

TEST_P(DropoutTest, ProbabilityZeroCopiesAndOneGivesZeros) {
  const std::vector<float> in = random_floats(100, 1, 0.2);
  std::vector<float> out(in.size(), -1.0F);
  run(in.data(), out.data(), {.count = 100, .probability = 0.0});
  EXPECT_TRUE(all_same_bits(out, in));
  run(in.data(), out.data(), {.count = 100, .probability = 1.0});
  EXPECT_TRUE(all_same_bits(out, std::vector<float>(100, 0.0F)));
}

TEST_P(DropoutTest, EveryBfloat16RoundsToNearestEven) {
  std::vector<BFloat16> in(65536);
  for (size_t i = 0; i < in.size(); ++i) {
    in[i].bits = static_cast<uint16_t>(i);
  }
  const DropoutArgs args{.count = 65536, .probability = 0.1};
  std::vector<BFloat16> out(in.size());
  run(in.data(), out.data(), args);
  EXPECT_TRUE(all_same_bits(out, by_definition(in, args)));
}

TEST_P(DropoutTest, DropsTheAskedShare) {
  const int64_t count = 1'000'000;
  const std::vector<float> ones(count, 1.0F);
  std::vector<float> out(count);
  for (const double probability : {0.1, 0.5}) {
    run(ones.data(), out.data(),
        {.stream = {.seed = 5}, .count = count, .probability = probability});
    const auto dropped = static_cast<double>(std::count(out.begin(), out.end(), 0.0F));
    const double sigma = std::sqrt(count * probability * (1 - probability));
    EXPECT_NEAR(dropped, count * probability, 5 * sigma);
  }
}

}  // namespace
}  // namespace libtrain::kernels
