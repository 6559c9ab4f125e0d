#include <ATen/ops/cross_entropy_loss.h>
#include <gtest/gtest.h>
#include <torch/nn/modules/embedding.h>

#include "libtrain/nn/embedding.hpp"
#include "libtrain/nn/linear.hpp"
#include "libtrain/optim/adamw.hpp"
#include "libtrain/train/trainer.hpp"
#include "tests/support/resident_bytes.hpp"
#include "tests/torch/train/mlp.hpp"

namespace libtrain {
namespace {

using namespace testing_support;

struct TextNetImpl : torch::nn::Module {
  TextNetImpl()
      : table(register_module("table", torch::nn::Embedding(500, 64))),
        output(register_module("output", torch::nn::Linear(64, 10))) {}
  at::Tensor loss(const Batch& batch) {
    const at::Tensor rows = libtrain::embedding(table->weight, batch.at("ids"));
    return at::cross_entropy_loss(linear(*output, rows).to(at::kFloat), batch.at("labels"));
  }
  torch::nn::Embedding table;
  torch::nn::Linear output;
};
TORCH_MODULE(TextNet);

/// Batches of every size, since what is kept by shape would grow too. A leaked gradient alone would
/// be 300 * 128 KB = 38 MB.
TEST(Memory, DoesNotGrowOverThreeHundredSteps) {
  for (const PrecisionMode precision : {PrecisionMode::kFp32, PrecisionMode::kBf16}) {
    for (const bool on_device : values_on_device()) {
      SCOPED_TRACE(testing::Message() << to_text(precision) << " on_device=" << on_device);
      const Runtime runtime = make_runtime(precision);
      TextNet net;
      net->to(test_device());
      AdamW optimizer(parameters_of(*net), {.lr = 1e-3});
      Trainer trainer(runtime, optimizer, {.clip_norm = 1.0, .values_on_device = on_device});
      const auto step = [&](int64_t index) {
        const int64_t samples = 200 + index * 37 % 100;
        const Batch batch = Batch::stacked({{"ids", at::randint(500, {samples}, at::kLong)},
                                            {"labels", at::randint(10, {samples}, at::kLong)}})
                                .to(test_device());
        trainer.step(batch, [&](const Batch& part) { return net->loss(part); });
      };
      for (int64_t index = 0; index < 100; ++index) {
        step(index);
      }
      const int64_t before = test::resident_bytes();
      for (int64_t index = 0; index < 300; ++index) {
        step(index);
      }
      EXPECT_LT(test::resident_bytes() - before, 6 << 20);
    }
  }
}

}  // namespace
}  // namespace libtrain
