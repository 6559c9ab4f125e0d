#include <gtest/gtest.h>

#include "libtrain/plan/choose_checkpointing.hpp"
#include "libtrain/plan/choose_micro_batch.hpp"
#include "libtrain/plan/choose_parallelism.hpp"
#include "libtrain/plan/make_plan.hpp"
#include "libtrain/plan/model_presets.hpp"
#include "tests/unit/plan/example_machines.hpp"
#include "tests/unit/plan/throws.hpp"

namespace libtrain {
namespace {

using examples::a100_machine;
using examples::cpu_machine;
using examples::program_asks;

constexpr int64_t kGiB = int64_t{1} << 30;
constexpr DeviceChoice kCuda{DeviceType::kCuda, 0};

/// A model of so many parameters in fp32, one of whose samples keeps so many bytes.
ModelFacts model_of(int64_t parameters, std::optional<int64_t> activation_bytes) {
  ModelFacts model;
  model.parameter_bytes = 4 * parameters;
  model.trainable = parameters;
  model.activation_bytes = activation_bytes;
  return model;
}

MemoryEstimate on_gpu(int64_t memory_bytes, const ModelFacts& model) {
  MachineFacts machine = a100_machine();
  machine.gpus[0].memory_bytes = memory_bytes;
  return estimate_memory(kCuda, machine, model);
}

TEST(MemoryEstimate, CountsWeightsGradientsAndMoments) {
  const MemoryEstimate memory = on_gpu(80 * kGiB, model_of(kGiB, 5));
  EXPECT_EQ(memory.usable, 72 * kGiB);
  EXPECT_EQ(memory.weights, 4 * kGiB);
  EXPECT_EQ(memory.gradients, 4 * kGiB);
  EXPECT_EQ(memory.optimizer, 8 * kGiB);
  EXPECT_EQ(memory.state(), 16 * kGiB);
  EXPECT_EQ(memory.sample, 5);
  EXPECT_EQ(on_gpu(80 * kGiB, {}).state(), std::nullopt);
  ModelFacts endless;
  endless.parameter_bytes = std::numeric_limits<int64_t>::max();
  endless.trainable = std::numeric_limits<int64_t>::max();
  EXPECT_GT(on_gpu(80 * kGiB, endless).state(), 72 * kGiB);
}

TEST(MemoryEstimate, IsOfTheHostWhereProcessesShareItAndWhereTheGpuHasNone) {
  MachineFacts machine = cpu_machine();
  machine.host.memory_bytes = 100 * kGiB;
  machine.host.memory_limit_bytes = 40 * kGiB;
  machine.launch.local_world_size = 2;
  EXPECT_EQ(estimate_memory({}, machine, {}).usable, 18 * kGiB);
  machine.host.memory_limit_bytes = kUnlimited;
  EXPECT_EQ(estimate_memory({}, machine, {}).usable, 45 * kGiB);
  machine.gpus.push_back(examples::gpu(0, {12, 1}, "NVIDIA GB10"));
  EXPECT_EQ(estimate_memory(kCuda, machine, {}).usable, 90 * kGiB);
  machine.gpus[0].compute_capability = ComputeCapability{12, 0};
  EXPECT_EQ(estimate_memory(kCuda, machine, {}).usable, std::nullopt);
}

TEST(MemoryEstimate, ShardsWhatEachStageShares) {
  const MemoryEstimate memory = on_gpu(80 * kGiB, model_of(kGiB, {}));
  EXPECT_EQ(state_per_rank(memory, ParallelForm::kDdp, 4), 16 * kGiB);
  EXPECT_EQ(state_per_rank(memory, ParallelForm::kZero1, 4), 10 * kGiB);
  EXPECT_EQ(state_per_rank(memory, ParallelForm::kZero2, 4), 7 * kGiB);
  EXPECT_EQ(state_per_rank(memory, ParallelForm::kZero3, 4), 4 * kGiB);
  EXPECT_EQ(state_per_rank(on_gpu(kGiB, {}), ParallelForm::kDdp, 4), std::nullopt);
}

TEST(ChooseParallelism, SharesOutNoMoreThanItMust) {
  const auto form = [](int64_t usable_gib, std::optional<int64_t> sample, int ranks) {
    return choose_parallelism({}, on_gpu(usable_gib * kGiB / 9 * 10, model_of(kGiB, sample)), ranks)
        .value;
  };
  EXPECT_EQ(form(100, {}, 1), ParallelForm::kAlone);
  EXPECT_EQ(form(17, {}, 4), ParallelForm::kDdp);
  EXPECT_EQ(form(17, 2 * kGiB, 4), ParallelForm::kZero1) << "a sample must fit too";
  EXPECT_EQ(form(11, {}, 4), ParallelForm::kZero1);
  EXPECT_EQ(form(8, {}, 4), ParallelForm::kZero2);
  EXPECT_EQ(form(5, {}, 4), ParallelForm::kZero3);
  EXPECT_EQ(form(1, {}, 4), ParallelForm::kZero3);
  EXPECT_EQ(choose_parallelism({}, on_gpu(80 * kGiB, {}), 4),
            (Decision<ParallelForm>{ParallelForm::kDdp, Source::kDefault,
                                    "the size of the model is unknown"}));
}

TEST(ChooseParallelism, ARequestWinsUnlessItNeedsOneProcess) {
  const MemoryEstimate memory = on_gpu(80 * kGiB, model_of(kGiB, {}));
  EXPECT_EQ(choose_parallelism(program_asks(ParallelForm::kZero3), memory, 4).reason,
            "asked by the program: this build does not apply it yet");
  EXPECT_EQ(message_of<Unsupported>(
                [&] { choose_parallelism(program_asks(ParallelForm::kAlone), memory, 4); }),
            "[plan.parallelism] cannot be done here: parallelism=\"alone\" (asked by the program), "
            "but there are 4 processes; start one process");
}

TEST(ChooseCheckpointing, OnWhereOneSampleDoesNotFitAndOnlyThere) {
  const auto on = [](int64_t gib, std::optional<int64_t> sample) {
    return choose_checkpointing({}, on_gpu(gib * kGiB, model_of(kGiB, sample)),
                                ParallelForm::kAlone, 1);
  };
  EXPECT_FALSE(on(80, 40 * kGiB).value);
  EXPECT_TRUE(on(80, 60 * kGiB).value);
  EXPECT_TRUE(on(10, 60 * kGiB).value) << "the state does not fit either";
  EXPECT_EQ(on(80, {}).reason, "what a sample keeps for the backward pass is unknown");
  EXPECT_EQ(choose_checkpointing(program_asks(true), {}, ParallelForm::kAlone, 1).source,
            Source::kAsked);
}

TEST(ChooseMicroBatch, IsTheLargestThatFitsInEvenParts) {
  const auto samples = [](std::optional<int64_t> batch, std::optional<int64_t> accumulate,
                          int64_t memory_gib) {
    return choose_micro_batch({}, batch, accumulate,
                              on_gpu(memory_gib * kGiB, model_of(kGiB, kGiB)), ParallelForm::kAlone,
                              1)
        .value;
  };
  EXPECT_EQ(samples(256, {}, 80), 52) << "56 would fit: 5 parts of at most 52";
  EXPECT_EQ(samples(32, {}, 80), 32);
  EXPECT_EQ(samples({}, {}, 80), 56);
  EXPECT_EQ(samples(32, {}, 10), 1);
  EXPECT_EQ(samples(32, 5, 80), 7) << "accumulate was asked for";
  EXPECT_EQ(samples({}, 5, 80), 0) << "whatever a step is given, in five parts";
  EXPECT_EQ(choose_micro_batch({}, 8, {}, {}, ParallelForm::kAlone, 1).value, 0);
  EXPECT_THROW(choose_micro_batch(program_asks(int64_t{0}), 8, {}, {}, ParallelForm::kAlone, 1),
               InvalidOption);
}

TEST(MakePlan, TheModelsSizeDecidesWhenItIsKnown) {
  MachineFacts machine = a100_machine();
  machine.gpus[0].memory_bytes = 80 * kGiB;
  machine.launch.world_size = 16;
  PlanOptions asked;
  asked.global_batch = 256;
  const Plan plan = make_plan(asked, machine);
  EXPECT_EQ(plan.parallelism.value, ParallelForm::kDdp);
  ModelFacts model = *model_preset("llama-8b");
  model.activation_bytes = 8 * kGiB;
  const Plan completed = complete_plan(plan, asked, machine, model);
  EXPECT_EQ(completed.parallelism.value, ParallelForm::kZero1);
  EXPECT_EQ(completed.micro_batch.value, 1);
  EXPECT_FALSE(completed.checkpointing.value);
}

}  // namespace
}  // namespace libtrain
