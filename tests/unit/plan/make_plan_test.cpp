#include "libtrain/plan/make_plan.hpp"

#include <gtest/gtest.h>

#include "libtrain/plan/model_presets.hpp"
#include "tests/unit/plan/example_machines.hpp"
#include "tests/unit/plan/throws.hpp"

namespace libtrain {
namespace {

using examples::a100_machine;
using examples::cpu_machine;

TEST(MakePlan, DecidesEverythingTheMachineDecides) {
  const Plan plan = make_plan({}, a100_machine());
  EXPECT_EQ(to_text(plan.device.value), "cuda:0");
  EXPECT_EQ(plan.precision.value, PrecisionMode::kBf16);
  EXPECT_EQ(plan.fp32_matmul.value, MatmulPrecision::kTf32);
  EXPECT_FALSE(plan.loss_scaling.value);
  EXPECT_EQ(plan.attention.value, AttentionKind::kFlash);
  EXPECT_EQ(plan.optimizer.value, OptimizerForm::kFused);
  EXPECT_EQ(plan.threads.value, 16);
  EXPECT_EQ(plan.allocator.value, AllocatorSetting::kExpandableSegments);
  EXPECT_EQ(plan.memory_format, std::nullopt);
}

TEST(MakePlan, LaterDecisionsFollowTheAskedDevice) {
  PlanOptions asked;
  asked.device = "cpu";
  const Plan plan = make_plan(asked, a100_machine());
  EXPECT_EQ(plan.precision.value, PrecisionMode::kFp32);
  EXPECT_EQ(plan.attention.value, AttentionKind::kShort);
  EXPECT_EQ(plan.optimizer.value, OptimizerForm::kOwnKernel);
  EXPECT_EQ(plan.allocator.value, AllocatorSetting::kGlibcThresholds);
}

TEST(MakePlan, EnvironmentDecidesOverFacts) {
  MachineFacts machine = a100_machine();
  machine.launch.variables["FASTTRAIN_PRECISION"] = "fp16";
  const Plan plan = make_plan({}, machine);
  EXPECT_EQ(plan.precision, (Decision<PrecisionMode>{PrecisionMode::kFp16, Source::kEnvironment,
                                                     "FASTTRAIN_PRECISION=fp16"}));
  EXPECT_TRUE(plan.loss_scaling.value);
}

TEST(MakePlan, EmptyFactsGiveAPlan) {
  const Plan plan = make_plan({}, {});
  EXPECT_EQ(to_text(plan.device.value), "cpu");
  EXPECT_EQ(plan.precision.value, PrecisionMode::kFp32);
  EXPECT_EQ(plan.threads.value, 1);
  EXPECT_EQ(plan.allocator.value, AllocatorSetting::kUnchanged);
}

TEST(MakePlan, FactsThatMoveEnterNoPlan) {
  MachineFacts busy = a100_machine();
  busy.host.memory_available_bytes = 1;
  busy.host.shared_memory_free_bytes = 1;
  busy.host.folder_free_bytes = 1;
  GpuFacts& gpu = busy.gpus[0];
  gpu.performance_state = 8;
  gpu.clock_mhz = 1;
  gpu.power_watts = 1;
  gpu.processes_bytes = 1;
  gpu.pcie_generation = 1;
  gpu.pcie_width = 1;
  gpu.memory_free_bytes = 1;
  gpu.clock_reasons = {{"power brake"}};
  gpu.ecc_uncorrected = 1;
  gpu.repair_pending = true;
  gpu.repair_failed = true;
  gpu.temperature_celsius = 99;
  gpu.xids = {{"79"}};
  EXPECT_EQ(make_plan({}, busy), make_plan({}, a100_machine()));
}

TEST(MakePlan, CompletingAddsWhatTheModelDecidesAndNothingElse) {
  const Plan plan = make_plan({}, a100_machine());
  const Plan completed = complete_plan(plan, {}, a100_machine(), *model_preset("resnet50"));
  EXPECT_EQ(completed.memory_format->value, MemoryFormat::kChannelsLast);
  EXPECT_TRUE(completed.cudnn_benchmark.value);

  Plan back = completed;
  back.memory_format = plan.memory_format;
  back.cudnn_benchmark = plan.cudnn_benchmark;
  back.cuda_graph = plan.cuda_graph;
  back.parallelism = plan.parallelism;
  back.checkpointing = plan.checkpointing;
  back.micro_batch = plan.micro_batch;
  EXPECT_EQ(back, plan);
}

TEST(MakePlan, AnAskedMemoryFormatNeedsNoModel) {
  PlanOptions asked;
  asked.memory_format = MemoryFormat::kChannelsLast;
  EXPECT_EQ(make_plan(asked, cpu_machine()).memory_format->source, Source::kAsked);
}

std::string refusal(std::optional<int64_t> global_batch, std::optional<int64_t> accumulate,
                    int world_size) {
  PlanOptions asked;
  asked.global_batch = global_batch;
  asked.accumulate = accumulate;
  MachineFacts machine = cpu_machine();
  machine.launch.world_size = world_size;
  return message_of<InvalidOption>([&] { make_plan(asked, machine); });
}

TEST(MakePlan, RefusesALaunchThatContradictsItself) {
  MachineFacts machine = cpu_machine();
  machine.launch.problem = "RANK=4 with WORLD_SIZE=4, expected a smaller RANK";
  EXPECT_EQ(message_of<InvalidOption>([&] { make_plan({}, machine); }),
            "[plan.launch] launch variables contradict each other: RANK=4 with WORLD_SIZE=4, "
            "expected a smaller RANK; correct or unset them");
}

TEST(MakePlan, RefusesBatchesThatCannotBeSplit) {
  EXPECT_EQ(refusal(0, {}, 1), "[plan.batch] out of range: global_batch=0, expected at least 1");
  EXPECT_EQ(refusal({}, 0, 1), "[plan.batch] out of range: accumulate=0, expected at least 1");
  EXPECT_EQ(refusal(10, {}, 4),
            "[plan.batch] cannot be shared evenly: global_batch=10, expected a multiple of the 4 "
            "ranks");
  EXPECT_EQ(refusal(8, 3, 4),
            "[plan.batch] empty micro-batches: accumulate=3, expected at most the 2 samples a rank "
            "takes per update (global_batch=8, ranks=4)");
}

TEST(MakePlan, KeepsBatchesThatCanBeSplit) {
  PlanOptions asked;
  asked.global_batch = 8;
  asked.accumulate = 2;
  MachineFacts machine = cpu_machine();
  machine.launch.world_size = 4;
  const Plan plan = make_plan(asked, machine);
  EXPECT_EQ(plan.global_batch, 8);
  EXPECT_EQ(plan.accumulate, 2);
}

}  // namespace
}  // namespace libtrain
