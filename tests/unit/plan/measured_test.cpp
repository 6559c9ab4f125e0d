// What was measured decides over what facts say, and under what is asked.

#include <gmock/gmock.h>

#include "libtrain/plan/make_plan.hpp"
#include "libtrain/plan/prefer_measured.hpp"
#include "libtrain/plan/tuning.hpp"
#include "tests/unit/plan/example_machines.hpp"

namespace libtrain {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

MachineFacts measured_machine() {
  MachineFacts machine = examples::cpu_machine();
  machine.cpu.affinity_cores = 8;
  machine.cpu.affinity_cpus = 16;
  machine.measured.threads = {{"4", 90.0}, {"8", 100.04}, {"16", 120.0}};
  machine.measured.optimizer = {{"own_kernel", 100.04}, {"fused", 98.0}};
  machine.measured.precision = {{"fp32", 100.04}, {"bf16", 60.0}};
  return machine;
}

TEST(Measured, TheFastestValueReplacesWhatFactsChose) {
  const Plan plan = make_plan({}, measured_machine());
  EXPECT_EQ(plan.threads.value, 4);
  EXPECT_EQ(plan.threads.source, Source::kMeasured);
  EXPECT_EQ(plan.threads.reason, "a step measured: 90 ms with 4, 120 ms with 16, 100 ms with 8");
  EXPECT_EQ(plan.precision.value, PrecisionMode::kBf16);
}

TEST(Measured, AGainWithinTheNoiseKeepsTheChoiceAndIsCited) {
  const Plan plan = make_plan({}, measured_machine());
  EXPECT_EQ(plan.optimizer.value, OptimizerForm::kOwnKernel);
  EXPECT_EQ(plan.optimizer.source, Source::kMeasured);
  EXPECT_EQ(plan.optimizer.reason, "a step measured: 100 ms with own_kernel, 98 ms with fused");
}

TEST(Measured, WhatIsAskedGoesFirst) {
  MachineFacts machine = measured_machine();
  machine.launch.variables["OMP_NUM_THREADS"] = "3";
  const Plan plan = make_plan({.precision = PrecisionMode::kFp32}, machine);
  EXPECT_EQ(plan.threads.value, 3);
  EXPECT_EQ(plan.threads.source, Source::kEnvironment);
  EXPECT_EQ(plan.precision.value, PrecisionMode::kFp32);
  EXPECT_EQ(plan.precision.source, Source::kAsked);
}

TEST(Measured, CountsOnTheCpuOnly) {
  MachineFacts machine = examples::a100_machine();
  machine.measured = measured_machine().measured;
  const Plan plan = make_plan({}, machine);
  EXPECT_EQ(plan.precision.source, Source::kFacts);
  EXPECT_EQ(plan.threads.source, Source::kFacts);
}

TEST(Measured, ThreadsOfOneProcessSayNothingOfSeveral) {
  MachineFacts machine = measured_machine();
  machine.launch.local_world_size = 2;
  const Plan plan = make_plan({}, machine);
  EXPECT_EQ(plan.threads.value, 4);
  EXPECT_EQ(plan.threads.source, Source::kFacts);
  EXPECT_EQ(plan.precision.source, Source::kMeasured);
}

TEST(Measured, AProcessSettingNobodyAllowedStaysAsItIs) {
  MachineFacts machine = measured_machine();
  machine.measured.allocator = {{"unchanged", 100.0}, {"glibc_thresholds", 50.0}};
  EXPECT_EQ(make_plan({.allow_process_settings = false}, machine).allocator.value,
            AllocatorSetting::kUnchanged);
  EXPECT_EQ(make_plan({}, machine).allocator.value, AllocatorSetting::kGlibcThresholds);
}

TEST(Measured, ValuesThatCannotBeChosenHereAreNoChoice) {
  MachineFacts machine = measured_machine();
  machine.measured.attention = {{"short", 100.0}, {"cudnn", 1.0}, {"rubbish", 1.0}};
  machine.measured.threads = {{"8", 100.0}, {"999", 1.0}, {"-1", 1.0}};
  const Plan plan = make_plan({}, machine);
  EXPECT_EQ(plan.attention.value, AttentionKind::kShort);
  EXPECT_EQ(plan.threads.value, 8);
}

TEST(Measured, AChoiceThatWasNotMeasuredIsLeftAlone) {
  EXPECT_EQ(measured_choice("8", {{"4", 1.0}}), std::nullopt);
  EXPECT_EQ(measured_choice("8", {}), std::nullopt);
}

TEST(Tuning, TriesTheAlternativesOfWhatFactsChose) {
  MachineFacts machine = measured_machine();
  machine.measured = {};
  const std::vector<TuningTrial> trials = tuning_trials(make_plan({}, machine), machine.cpu);
  std::vector<std::string> keys;
  for (const TuningTrial& trial : trials) {
    keys.push_back(trial.key);
  }
  EXPECT_THAT(keys, ElementsAre("threads", "precision", "attention", "optimizer", "allocator"));
  EXPECT_THAT(trials[0].values, ElementsAre("8", "4", "16"));
  EXPECT_EQ(trials[0].variable, "FASTTRAIN_THREADS");
  EXPECT_THAT(trials[1].values, ElementsAre("fp32", "bf16"));
  EXPECT_THAT(trials[2].values, ElementsAre("short", "math"));
  EXPECT_THAT(trials[4].values, ElementsAre("glibc_thresholds", "unchanged"));
}

TEST(Tuning, LeavesOutWhatIsDecidedByTheEnvironment) {
  MachineFacts machine = measured_machine();
  machine.launch.variables["FASTTRAIN_THREADS"] = "8";
  for (const TuningTrial& trial : tuning_trials(make_plan({}, machine), machine.cpu)) {
    EXPECT_NE(trial.key, "threads");
  }
}

TEST(Tuning, TriesNoMoreThreadsThanCpus) {
  CpuFacts cpu;
  EXPECT_THAT(tuned_threads(1, cpu), ElementsAre(1));
  cpu.affinity_cpus = 3;
  EXPECT_THAT(tuned_threads(2, cpu), ElementsAre(1, 2));
  cpu.affinity_cpus = 4;
  EXPECT_THAT(tuned_threads(2, cpu), ElementsAre(1, 2, 4));
  cpu.affinity_cpus = 1;
  EXPECT_THAT(tuned_threads(6, cpu), ElementsAre(3, 6));
}

}  // namespace
}  // namespace libtrain
