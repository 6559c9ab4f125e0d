// Batches on their way to a device: the same as on the CPU, in order, without a wait or a race.

#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include "libtrain/data/device_batches.hpp"
#include "tests/torch/simulation/simulated_machine.hpp"

namespace libtrain {
namespace {

using testing_support::simulated_runtime;

/// Sample i is the row [i, i + 100].
class Numbers : public Dataset {
 public:
  int64_t size() const override { return 11; }
  Batch collate(std::span<const int64_t> indices) const override {
    const at::Tensor rows = at::tensor(at::IntArrayRef(indices.data(), indices.size()), at::kLong);
    Batch batch = Batch::stacked({{"x", rows.to(at::kFloat)}, {"y", rows + 100}});
    batch.set_first_sample(indices.front());
    return batch;
  }
};

/// The sums that a device computes from the batches of one epoch.
std::vector<float> sums_on(const Runtime& runtime) {
  const Numbers numbers;
  const DataLoader loader(numbers, {.batch_size = 4, .shuffle = true, .seed = 7});
  std::vector<at::Tensor> sums;
  for (const Batch& batch : DeviceBatches(loader.epoch(2), runtime)) {
    EXPECT_EQ(batch.at("x").device(), runtime.device());
    sums.push_back(batch.at("x").mul(3).add(batch.at("y")).sum());
  }
  std::vector<float> values;
  for (const at::Tensor& sum : sums) {
    values.push_back(sum.item<float>());
  }
  return values;
}

TEST(DeviceBatches, AreTheEpochsInItsOrder) {
  const std::vector<float> expected = sums_on(Runtime({}, MachineFacts{}));
  EXPECT_EQ(expected.size(), 3U);
  EXPECT_EQ(sums_on(simulated_runtime("t4-x1")), expected);
  EXPECT_EQ(sums_on(simulated_runtime("t4-x1", {.pinned_memory = false})), expected);
}

TEST(DeviceBatches, CopyWithoutAWaitAndWithoutARace) {
  const Runtime runtime = simulated_runtime("t4-x1");
  const Numbers numbers;
  const DataLoader loader(numbers, {.batch_size = 2, .shuffle = false, .seed = 0});
  for (int64_t epoch = 0; epoch < 3; ++epoch) {
    at::Tensor sum;
    for (const Batch& batch : DeviceBatches(loader.epoch(epoch), runtime)) {
      sum = sum.defined() ? sum + batch.at("x").sum() : batch.at("x").sum();
    }
  }
  const SimulationReport report = runtime.simulation()->report();
  EXPECT_EQ(report.host_waits, 0) << report.waits.front();
  EXPECT_TRUE(report.races.empty()) << report.races.front();
}

TEST(DeviceBatches, CanBeLeftHalfWay) {
  const Runtime runtime = simulated_runtime("t4-x1");
  const Numbers numbers;
  const DataLoader loader(numbers, {.batch_size = 3});
  for (const Batch& batch : DeviceBatches(loader.epoch(0), runtime)) {
    EXPECT_EQ(batch.samples(), 3);
    break;
  }
  EXPECT_TRUE(runtime.simulation()->report().races.empty());
}

}  // namespace
}  // namespace libtrain
