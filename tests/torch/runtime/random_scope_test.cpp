#include "libtrain/runtime/random_scope.hpp"

#include <gtest/gtest.h>
#include <torch/utils.h>

#include <thread>

namespace libtrain {
namespace {

TEST(RandomScope, NumbersSitesFromWhereItStarts) {
  const RandomScope scope({.seed = 5, .step = 7, .first_sample = 3});
  const kernels::RandomStream first = next_random_stream();
  EXPECT_EQ(first.seed, 5U);
  EXPECT_EQ(first.step, 7U);
  EXPECT_EQ(first.sample, 3U);
  EXPECT_EQ(first.site, 0U);
  EXPECT_EQ(next_random_stream().site, 1U);
}

TEST(RandomScope, NestsAndComesBack) {
  const RandomScope outer({.seed = 1});
  next_random_stream();
  {
    const RandomScope inner({.seed = 2});
    EXPECT_EQ(next_random_stream().seed, 2U);
  }
  EXPECT_EQ(next_random_stream().seed, 1U);
  EXPECT_EQ(next_random_stream().site, 2U);
}

TEST(RandomScope, BelongsToItsThread) {
  const RandomScope scope({.seed = 9});
  uint64_t other = 9;
  std::thread([&] { other = next_random_stream().seed; }).join();
  EXPECT_NE(other, 9U);
}

TEST(RandomScope, OutsideOfOneTorchsSeedDecides) {
  torch::manual_seed(3);
  const uint64_t first = next_random_stream().seed;
  EXPECT_NE(next_random_stream().seed, first);
  torch::manual_seed(3);
  EXPECT_EQ(next_random_stream().seed, first);
}

}  // namespace
}  // namespace libtrain
