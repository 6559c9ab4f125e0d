#include "libtrain/plan/choose_device.hpp"

#include <gmock/gmock.h>

#include "libtrain/plan/device_request.hpp"
#include "tests/unit/plan/example_machines.hpp"
#include "tests/unit/plan/throws.hpp"

namespace libtrain {
namespace {

using examples::a100_machine;
using examples::cpu_machine;
using examples::gpu;
using examples::program_asks;
using testing::HasSubstr;
using testing::StartsWith;

Decision<DeviceChoice> choose(const MachineFacts& machine) { return choose_device({}, machine); }

void expect_cpu(const MachineFacts& machine, const std::string& reason) {
  const Decision<DeviceChoice> decision = choose(machine);
  EXPECT_EQ(to_text(decision.value), "cpu");
  EXPECT_EQ(decision.reason, reason);
}

TEST(ChooseDevice, TakesTheGpuThatRunsTheBuild) {
  const Decision<DeviceChoice> decision = choose(a100_machine());
  EXPECT_EQ(to_text(decision.value), "cuda:0");
  EXPECT_EQ(decision.source, Source::kFacts);
  EXPECT_EQ(decision.reason,
            "\"NVIDIA A100-SXM4-80GB\", compute capability 8.0, runs this build's \"sm_80\"");
}

TEST(ChooseDevice, NamesWhatIsMissing) {
  MachineFacts machine = a100_machine();
  machine.library.cuda_version.reset();
  machine.library.torch_version = "2.15.0+cpu";
  expect_cpu(machine,
             "found \"NVIDIA A100-SXM4-80GB\", but LibTorch \"2.15.0+cpu\" is a CPU-only build");
  machine.gpus.clear();
  expect_cpu(machine, "LibTorch \"2.15.0+cpu\" is a CPU-only build");

  expect_cpu(cpu_machine(), "no NVIDIA driver was found");

  machine = a100_machine();
  machine.gpu_driver.problem = "Driver/library version mismatch";
  expect_cpu(machine, "the NVIDIA driver has a problem: \"Driver/library version mismatch\"");

  machine = a100_machine();
  machine.gpus.clear();
  expect_cpu(machine, "the NVIDIA driver lists no GPU");

  machine = a100_machine();
  machine.gpus[0].cuda_index.reset();
  machine.gpu_driver.visible_devices = "";
  expect_cpu(machine, "CUDA_VISIBLE_DEVICES=\"\" hides every GPU");

  machine = a100_machine();
  machine.gpus[0].problem = "GPU is lost";
  expect_cpu(machine, "\"NVIDIA A100-SXM4-80GB\" has a problem: \"GPU is lost\"");

  machine = a100_machine();
  machine.gpus[0].fabric = "in progress";
  expect_cpu(machine,
             "the NVSwitch fabric of \"NVIDIA A100-SXM4-80GB\" is \"in progress\": CUDA does not "
             "start (error 802)");
  machine.gpus[0].fabric = "completed";
  machine.gpus[0].compute_mode = "prohibited";
  expect_cpu(machine, "\"NVIDIA A100-SXM4-80GB\" is in compute mode \"prohibited\"");

  machine = a100_machine();
  machine.gpus[0] = gpu(0, {7, 0}, "Tesla V100-SXM2-16GB");
  expect_cpu(machine,
             "\"Tesla V100-SXM2-16GB\" has compute capability 7.0, this build was compiled for "
             "\"sm_75 sm_80 sm_86 sm_90 sm_100 sm_120\" only");
}

TEST(ChooseDevice, DriverMustServeTheMajorOfTheBuildsCuda) {
  MachineFacts machine = a100_machine();
  machine.gpu_driver.driver_version = "570.26";
  machine.gpu_driver.driver_cuda_version = "12.8";
  expect_cpu(machine, "driver \"570.26\" serves CUDA up to 12.8, this build needs 13.2");
  machine.gpu_driver.driver_cuda_version = "13.0";
  EXPECT_EQ(to_text(choose(machine).value), "cuda:0");
}

TEST(ChooseDevice, UnknownFactsAreStatedAndNoError) {
  EXPECT_EQ(choose({}).source, Source::kDefault);
  expect_cpu({}, "the LibTorch of this build is unknown, so is its CUDA");

  MachineFacts machine = a100_machine();
  machine.gpus[0].compute_capability.reset();
  machine.gpus[0].name.reset();
  Decision<DeviceChoice> decision = choose(machine);
  EXPECT_EQ(to_text(decision.value), "cuda:0");
  EXPECT_THAT(decision.reason, HasSubstr("an unnamed GPU; its compute capability is unknown"));

  machine = a100_machine();
  machine.library.cuda_archs.reset();
  EXPECT_THAT(choose(machine).reason, HasSubstr("targets of this build are unknown"));
}

TEST(ChooseDevice, CardsNewerThanTheRulesAreNamedWithTheRuleUsed) {
  MachineFacts machine = a100_machine();
  machine.gpus[0] = gpu(0, {13, 0}, "NVIDIA Next");
  EXPECT_THAT(choose(machine).reason,
              HasSubstr("compute capability 13.0 (not known here, judged as 12.1)"));
}

TEST(ChooseDevice, EachLocalRankTakesItsOwnGpu) {
  MachineFacts machine = a100_machine();
  machine.gpus.push_back(gpu(1, {8, 0}, "NVIDIA A100-SXM4-80GB"));
  machine.launch.local_rank = 1;
  machine.launch.local_world_size = 2;
  const Decision<DeviceChoice> decision = choose(machine);
  EXPECT_EQ(to_text(decision.value), "cuda:1");
  EXPECT_THAT(decision.reason, HasSubstr("of local rank 1"));
}

TEST(ChooseDevice, ProcessesWithoutEnoughGpusAllTakeTheCpu) {
  MachineFacts machine = a100_machine();
  machine.gpus.push_back(gpu(1, {8, 0}, "NVIDIA A100-SXM4-80GB"));
  machine.launch.local_world_size = 3;
  for (int rank = 0; rank < 3; ++rank) {
    machine.launch.local_rank = rank;
    expect_cpu(machine, "3 processes on this machine, visible GPUs: 2");
  }
}

TEST(ChooseDevice, OneGpuLeftVisibleByTheLauncherIsThisProcesss) {
  MachineFacts machine = a100_machine();
  machine.launch.local_rank = 3;
  machine.launch.local_world_size = 4;
  expect_cpu(machine, "4 processes on this machine, visible GPUs: 1");
  machine.gpu_driver.visible_devices = "3";
  const Decision<DeviceChoice> decision = choose(machine);
  EXPECT_EQ(to_text(decision.value), "cuda:0");
  EXPECT_THAT(decision.reason, HasSubstr("left to local rank 3 by CUDA_VISIBLE_DEVICES=\"3\""));
}

TEST(ChooseDevice, MigInstancesAreNamed) {
  MachineFacts machine = a100_machine();
  machine.gpus[0].mig_instance = true;
  machine.gpus[0].mig_profile = "3g.20gb";
  EXPECT_THAT(choose(machine).reason,
              StartsWith("\"NVIDIA A100-SXM4-80GB\" (MIG instance \"3g.20gb\")"));
}

TEST(ChooseDevice, GrantsWhatIsAskedAndPossible) {
  const Decision<DeviceChoice> cpu =
      choose_device(program_asks<std::string>("cpu"), a100_machine());
  EXPECT_EQ(
      cpu, (Decision<DeviceChoice>{{DeviceType::kCpu, 0}, Source::kAsked, "asked by the program"}));

  MachineFacts machine = a100_machine();
  machine.gpus.push_back(gpu(1, {8, 9}, "NVIDIA L40S"));
  const Decision<DeviceChoice> cuda = choose_device(program_asks<std::string>("cuda:1"), machine);
  EXPECT_EQ(to_text(cuda.value), "cuda:1");
  EXPECT_EQ(cuda.source, Source::kAsked);
  EXPECT_EQ(cuda.reason,
            "asked by the program: \"NVIDIA L40S\", compute capability 8.9, runs this build's "
            "\"sm_86\"");
}

TEST(ChooseDevice, RefusesCudaWithTheReason) {
  EXPECT_EQ(message_of<Unsupported>(
                [] { choose_device(program_asks<std::string>("cuda"), cpu_machine()); }),
            "[plan.device] cannot be done here: device=\"cuda\" (asked by the program), but no "
            "NVIDIA driver was found; ask for cpu, or mend that");
}

TEST(ChooseDevice, RefusesNamesAndIndicesThatAreNoDevice) {
  EXPECT_EQ(message_of<InvalidOption>(
                [] { choose_device(program_asks<std::string>("cuda:1"), a100_machine()); }),
            "[plan.device] no such GPU: device=cuda:1 (asked by the program), expected an index "
            "below 1; check CUDA_VISIBLE_DEVICES");
  EXPECT_EQ(message_of<InvalidOption>(
                [] { choose_device(program_asks<std::string>("gpu"), a100_machine()); }),
            "[plan.device] no such device: device=\"gpu\", expected cpu, cuda or cuda:N");
  for (const char* text : {"", "CPU", "cuda:", "cuda:-1", "cuda: 1", "cuda:1x", "cuda:128",
                           "cuda:99999999999999999999", "cpu:0"}) {
    EXPECT_EQ(parse_device(text), std::nullopt) << text;
  }
}

TEST(ChooseDevice, TextOfTheDriverCannotForgeLines) {
  MachineFacts machine = a100_machine();
  machine.gpu_driver.problem = "bad\n\x1b[31m";
  expect_cpu(machine, "the NVIDIA driver has a problem: \"bad\\x0a\\x1b[31m\"");
}

}  // namespace
}  // namespace libtrain
