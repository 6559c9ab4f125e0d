// What the plan says of a form is the form that runs.

#include <ATen/ops/allclose.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/randn.h>
#include <ATen/record_function.h>
#include <gmock/gmock.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "libtrain/nn/attention.hpp"
#include "libtrain/nn/embedding.hpp"
#include "libtrain/nn/linear.hpp"
#include "libtrain/optim/adamw.hpp"
#include "libtrain/runtime/planned_forms.hpp"
#include "libtrain/runtime/runtime.hpp"
#include "libtrain/train/trainer.hpp"
#include "tests/support/test_device.hpp"

namespace libtrain {
namespace {

using testing::Contains;
using testing::Not;
using testing_support::needs_cpu;

/// Names of ATen's operators that `fn` calls in this thread.
template <class Fn>
std::set<std::string> operators_of(const Fn& fn) {
  static std::set<std::string> names;
  names.clear();
  const auto handle = at::addThreadLocalCallback(
      at::RecordFunctionCallback([](const at::RecordFunction& call)
                                     -> std::unique_ptr<at::ObserverContext> {
        names.insert(call.name());
        return nullptr;
      }).scopes({at::RecordScope::FUNCTION}));
  fn();
  at::removeCallback(handle);
  return names;
}

TEST(PlanApplied, AttentionIsOfThePlannedForm) {
  if (needs_cpu("which of its forms are planned")) {
    return;
  }
  const auto layout = std::make_shared<const PackedLayout>(std::vector<int64_t>{3, 7, 1});
  const at::Tensor qkv = at::randn({11, 3 * 16});
  at::Tensor by_kernel;
  at::Tensor by_math;
  const auto attend = [&](at::Tensor& out) {
    return operators_of([&] { out = attention_qkvpacked(qkv, layout, {.heads = 2}); });
  };
  {
    const Runtime runtime({}, MachineFacts{});
    EXPECT_THAT(attend(by_kernel), Not(Contains("aten::scaled_dot_product_attention")));
  }
  {
    const Runtime runtime({.attention = AttentionKind::kMath}, MachineFacts{});
    const std::set<std::string> names = attend(by_math);
    EXPECT_THAT(names, Contains("aten::scaled_dot_product_attention"));
    EXPECT_THAT(names, Contains("aten::_scaled_dot_product_attention_math"));
  }
  // Sums of up to 8 products and a softmax over up to 7 numbers of about N(0, 1), in fp32.
  EXPECT_TRUE(at::allclose(by_kernel, by_math, 1e-5, 1e-5));
  EXPECT_THAT(attend(by_kernel), Not(Contains("aten::scaled_dot_product_attention")));
}

/// An embedding and a linear layer, whose gradients have forms of their own for own kernels.
struct ModelImpl : torch::nn::Module {
  ModelImpl() {
    register_module("words", words);
    register_module("last", last);
  }
  at::Tensor loss(const Batch& batch) {
    return linear(*last, libtrain::embedding(words->weight, batch.at("ids"))).square().mean();
  }

  torch::nn::Embedding words{20, 8};
  torch::nn::Linear last{8, 4};
};
TORCH_MODULE(Model);

struct Trained {
  std::vector<at::Tensor> weights;
  std::set<std::string> operators;
};

Trained train(OptimizerForm form) {
  Runtime runtime({.precision = PrecisionMode::kBf16, .optimizer = form, .seed = 3},
                  MachineFacts{});
  const Model model = runtime.prepare(Model());
  AdamW optimizer(parameters_of(*model), {.lr = 1e-2});
  Trainer trainer(runtime, optimizer, {.clip_norm = 0.5});
  const Batch batch = Batch::stacked({{"ids", at::arange(10, at::kLong)}});
  Trained result;
  for (int step = 0; step < 5; ++step) {
    result.operators = operators_of(
        [&] { trainer.step(batch, [&](const Batch& part) { return Model(model)->loss(part); }); });
  }
  for (const at::Tensor& parameter : model->parameters()) {
    result.weights.push_back(parameter.detach());
  }
  return result;
}

TEST(PlanApplied, TheOptimizerIsOfThePlannedForm) {
  if (needs_cpu("which of its forms are planned")) {
    return;
  }
  const Trained own = train(OptimizerForm::kOwnKernel);
  const Trained fused = train(OptimizerForm::kFused);
  EXPECT_THAT(own.operators, Not(Contains("aten::_fused_adamw_")));
  EXPECT_THAT(fused.operators, Contains("aten::_fused_adamw_"));
  for (size_t i = 0; i < own.weights.size(); ++i) {
    // Five steps of 1e-2 whose directions agree to some units of fp32.
    EXPECT_TRUE(at::allclose(own.weights[i], fused.weights[i], 1e-5, 1e-6)) << i;
  }
}

TEST(PlanApplied, FormsArePutBack) {
  if (needs_cpu("which of its forms are planned")) {
    return;
  }
  {
    const Runtime runtime({.attention = AttentionKind::kMath, .optimizer = OptimizerForm::kFused},
                          MachineFacts{});
    EXPECT_EQ(planned_forms(), (PlannedForms{AttentionKind::kMath, OptimizerForm::kFused}));
  }
  EXPECT_EQ(planned_forms(), PlannedForms{});
}

}  // namespace
}  // namespace libtrain
