#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "libtrain/core/error.hpp"
#include "libtrain/optim/adamw.hpp"
#include "libtrain/optim/sgd.hpp"
#include "optimizer_support.hpp"

namespace libtrain {
namespace {

using test::one_group;
using test::parameter;
using test::same_bits;
using test::values;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Key;

struct Training {
  Parameter a = parameter("a", {4, 3}, 0);
  Parameter b = parameter("b", {5}, 50);
  AdamW optimizer{one_group({a, b}), {.lr = 0.1, .amsgrad = true}};

  void step(int n) {
    a.tensor.mutable_grad() = values({4, 3}, 100 * n);
    optimizer.step();
  }
};

OptimizerState copied(const OptimizerState& state) {
  OptimizerState copy;
  for (const auto& [name, tensor] : state) {
    copy[name] = tensor.clone();
  }
  return copy;
}

TEST(OptimizerState, HoldsStepsOfAllAndValuesOfMovedParameters) {
  Training run;
  run.step(0);
  EXPECT_THAT(run.optimizer.state_dict(),
              ElementsAre(Key("exp_avg.a"), Key("exp_avg_sq.a"), Key("max_exp_avg_sq.a"),
                          Key("step.a"), Key("step.b")));
  SGD plain(one_group({parameter("w", {2})}));
  EXPECT_TRUE(plain.state_dict().empty());
}

TEST(OptimizerState, ALoadedOptimizerGoesOnWithTheSameBits) {
  Training first;
  for (int n = 0; n < 3; ++n) {
    first.step(n);
  }
  const OptimizerState saved = copied(first.optimizer.state_dict());
  Training second;
  second.a.tensor.set_data(first.a.tensor.detach().clone());
  second.optimizer.load_state_dict(saved);
  for (int n = 3; n < 6; ++n) {
    first.step(n);
    second.step(n);
  }
  EXPECT_TRUE(same_bits(first.a.tensor.detach(), second.a.tensor.detach()));
  // The loaded tensors belong to the caller still.
  EXPECT_EQ(saved.at("step.a").item<float>(), 3.0F);
}

TEST(OptimizerState, LoadListsEveryDifferenceAndChangesNothing) {
  Training run;
  run.step(0);
  const OptimizerState before = copied(run.optimizer.state_dict());
  OptimizerState bad = before;
  bad.erase("exp_avg.a");
  bad["exp_avg_sq.a"] = at::zeros({3, 4});
  bad["max_exp_avg_sq.a"] = at::zeros({4, 3}, at::kDouble);
  bad["step.b"] = at::scalar_tensor(1.5, at::kFloat);
  bad["step.c"] = at::scalar_tensor(0, at::kFloat);
  try {
    run.optimizer.load_state_dict(bad);
    FAIL() << "loaded";
  } catch (const InvalidOption& error) {
    const std::string message = error.what();
    EXPECT_THAT(message, HasSubstr("\"exp_avg.a\" is missing"));
    EXPECT_THAT(message, HasSubstr("\"exp_avg_sq.a\" is Float [3, 4], expected Float [4, 3]"));
    EXPECT_THAT(message, HasSubstr("\"max_exp_avg_sq.a\" is Double [4, 3]"));
    EXPECT_THAT(message, HasSubstr("\"step.b\" is 1.5, expected a whole number"));
    EXPECT_THAT(message, HasSubstr("\"step.c\" is unknown"));
  }
  const OptimizerState after = run.optimizer.state_dict();
  ASSERT_EQ(after.size(), before.size());
  for (const auto& [name, tensor] : before) {
    EXPECT_TRUE(same_bits(tensor, after.at(name))) << name;
  }
}

TEST(OptimizerState, AnEmptyStateIsRefusedWhereThereShouldBeOne) {
  Training run;
  EXPECT_THROW(run.optimizer.load_state_dict({}), InvalidOption);
  SGD plain(one_group({parameter("w", {2})}));
  EXPECT_NO_THROW(plain.load_state_dict({}));
}

TEST(OptimizerState, LoadingForgetsMomentsTheFileDoesNotHave) {
  Training run;
  run.step(0);
  OptimizerState fresh;
  fresh["step.a"] = at::zeros({});
  fresh["step.b"] = at::zeros({});
  run.optimizer.load_state_dict(fresh);
  EXPECT_EQ(run.optimizer.state_dict().size(), 2U);
}

TEST(OptimizerState, TheDampedFirstStepIsNotRepeatedAfterALoad) {
  const Parameter through = parameter("w", {6});
  const Parameter resumed = parameter("w", {6});
  const SGDOptions options{.lr = 0.1, .momentum = 0.9, .dampening = 0.5};
  SGD first(one_group({through}), options);
  SGD second(one_group({resumed}), options);
  through.tensor.mutable_grad() = values({6}, 1);
  first.step();
  second.load_state_dict(first.state_dict());
  resumed.tensor.set_data(through.tensor.detach().clone());
  through.tensor.mutable_grad() = values({6}, 2);
  resumed.tensor.mutable_grad() = values({6}, 2);
  first.step();
  second.step();
  EXPECT_TRUE(same_bits(through.tensor.detach(), resumed.tensor.detach()));
}

}  // namespace
}  // namespace libtrain
