#include <gtest/gtest.h>

#include "libtrain/plan/choose_backend.hpp"
#include "libtrain/plan/choose_bucket_mib.hpp"
#include "libtrain/plan/choose_cuda_graph.hpp"
#include "libtrain/plan/choose_data_workers.hpp"
#include "libtrain/plan/choose_numa_node.hpp"
#include "libtrain/plan/choose_pinned_memory.hpp"
#include "libtrain/plan/choose_prefetch.hpp"
#include "libtrain/plan/explain.hpp"
#include "libtrain/plan/make_plan.hpp"
#include "libtrain/plan/model_presets.hpp"
#include "tests/unit/plan/example_machines.hpp"
#include "tests/unit/plan/throws.hpp"

namespace libtrain {
namespace {

using examples::a100_machine;
using examples::cpu_machine;
using examples::program_asks;

constexpr DeviceChoice kCuda{DeviceType::kCuda, 0};

TEST(ChooseCudaGraph, OnlyForStaticShapesOnCuda) {
  const ModelFacts bert = *model_preset("bert-base");
  const ModelFacts resnet = *model_preset("resnet50");
  const auto on = [](DeviceType device, CommBackend backend, const ModelFacts& model) {
    return choose_cuda_graph({}, device, backend, model).value;
  };
  EXPECT_TRUE(on(DeviceType::kCuda, CommBackend::kNone, resnet));
  EXPECT_TRUE(on(DeviceType::kCuda, CommBackend::kNccl, resnet));
  EXPECT_FALSE(on(DeviceType::kCuda, CommBackend::kGloo, resnet));
  EXPECT_FALSE(on(DeviceType::kCuda, CommBackend::kNone, bert));
  EXPECT_FALSE(on(DeviceType::kCpu, CommBackend::kNone, resnet));
  EXPECT_EQ(choose_cuda_graph({}, DeviceType::kCuda, CommBackend::kNone, {}).source,
            Source::kDefault);
  EXPECT_EQ(message_of<Unsupported>([&] {
              choose_cuda_graph(program_asks(true), DeviceType::kCuda, CommBackend::kNone, bert);
            }),
            "[plan.cuda_graph] cannot be done here: cuda_graph=\"on\" (asked by the program), but "
            "the model's shapes vary: each would need a graph; ask for off");
}

TEST(ChooseData, WorkersAreForGpusAndLeaveAThreadToDriveThem) {
  EXPECT_EQ(choose_data_workers({}, DeviceType::kCpu, 16).value, 0);
  EXPECT_EQ(choose_data_workers({}, DeviceType::kCuda, 16).value, 4);
  EXPECT_EQ(choose_data_workers({}, DeviceType::kCuda, 3).value, 2);
  EXPECT_EQ(choose_data_workers({}, DeviceType::kCuda, 1).value, 0);
  EXPECT_EQ(choose_data_workers(program_asks(9), DeviceType::kCpu, 1).value, 9);
  EXPECT_EQ(choose_prefetch({}, 4).value, 2);
  EXPECT_EQ(choose_prefetch({}, 0).value, 0);
}

TEST(ChooseData, PinnedMemoryIsForGpusWithMemoryOfTheirOwn) {
  MachineFacts machine = a100_machine();
  EXPECT_TRUE(choose_pinned_memory({}, kCuda, machine).value);
  EXPECT_FALSE(choose_pinned_memory({}, DeviceChoice{}, machine).value);
  machine.gpus[0].compute_capability = ComputeCapability{8, 7};
  EXPECT_FALSE(choose_pinned_memory({}, kCuda, machine).value) << "Jetson AGX Orin";
  machine = a100_machine();
  machine.host.wsl = true;
  EXPECT_FALSE(choose_pinned_memory({}, kCuda, machine).value);
}

TEST(ChooseBackend, NcclForGpusGlooForCpusAndMigInstances) {
  MachineFacts machine = a100_machine();
  EXPECT_EQ(choose_backend({}, kCuda, machine).value, CommBackend::kNone);
  machine.launch.world_size = 2;
  EXPECT_EQ(choose_backend({}, kCuda, machine).value, CommBackend::kNccl);
  EXPECT_EQ(choose_backend({}, DeviceChoice{}, machine).value, CommBackend::kGloo);
  machine.gpus[0].mig_instance = true;
  machine.library.nccl_version = "2.30.7";
  EXPECT_EQ(choose_backend({}, kCuda, machine).value, CommBackend::kGloo);
  machine.library.nccl_version = "2.32.1";
  EXPECT_EQ(choose_backend({}, kCuda, machine).value, CommBackend::kNccl);
  EXPECT_THROW(choose_backend(program_asks(CommBackend::kNccl), DeviceChoice{}, machine),
               Unsupported);
  EXPECT_THROW(choose_backend(program_asks(CommBackend::kNone), kCuda, machine), Unsupported);
  EXPECT_EQ(choose_bucket_mib({}).value, 25);
}

/// A machine of two sockets, the GPU at the second.
MachineFacts two_nodes() {
  MachineFacts machine = a100_machine();
  machine.cpu.numa_nodes = 2;
  machine.cpu.affinity_nodes = {{"0", "1"}};
  machine.cpu.memory_nodes = {{"0", "1"}};
  machine.gpus[0].numa_node = 1;
  return machine;
}

TEST(ChooseNumaNode, BindsToTheNodeOfTheGpu) {
  EXPECT_EQ(choose_numa_node({}, kCuda, two_nodes()).value.node, 1);
  MachineFacts machine = two_nodes();
  machine.gpus[0].numa_node.reset();
  EXPECT_EQ(choose_numa_node({}, kCuda, machine).value.node, std::nullopt);
  machine.cpu.affinity_nodes = {{"0"}};
  EXPECT_EQ(choose_numa_node({}, kCuda, machine).reason, "the affinity mask lies in node 0");
  machine.cpu.affinity_nodes.emplace().clear();
  EXPECT_EQ(choose_numa_node({}, kCuda, machine).source, Source::kDefault);
}

TEST(ChooseNumaNode, SharesNodesOutAmongTheRanksOfACpu) {
  MachineFacts machine = two_nodes();
  EXPECT_EQ(choose_numa_node({}, DeviceChoice{}, machine).reason,
            "the threads of one process use every node");
  machine.launch.local_world_size = 4;
  for (const auto& [rank, node] : {std::pair(0, 0), {1, 0}, {2, 1}, {3, 1}}) {
    machine.launch.local_rank = rank;
    EXPECT_EQ(choose_numa_node({}, DeviceChoice{}, machine).value.node, node) << rank;
  }
  machine.launch.local_world_size = 3;
  EXPECT_EQ(choose_numa_node({}, DeviceChoice{}, machine).value.node, std::nullopt);
}

TEST(ChooseNumaNode, StaysWithinTheMaskAndTheCpuset) {
  MachineFacts machine = two_nodes();
  machine.cpu.memory_nodes = {{"0"}};
  EXPECT_EQ(
      choose_numa_node({}, kCuda, machine),
      (Decision<NumaChoice>{NumaChoice{}, Source::kFacts,
                            "the GPU is at node 1, but the cpuset allows no memory of node 1"}));
  machine.cpu.affinity_nodes = {{"0", "2"}};
  EXPECT_EQ(choose_numa_node({}, kCuda, machine).reason,
            "the GPU is at node 1, but the affinity mask has no CPU of node 1");
  EXPECT_EQ(message_of<Unsupported>(
                [&] { choose_numa_node(program_asks(NumaChoice{1}), kCuda, machine); }),
            "[plan.numa_node] cannot be done here: numa_node=\"1\" (asked by the program), but the "
            "affinity mask has no CPU of node 1; ask for unbound, or widen the mask");
  EXPECT_EQ(choose_numa_node(program_asks(NumaChoice{}), kCuda, two_nodes()).source,
            Source::kAsked);
}

TEST(Explain, SaysWhichRowsThisBuildDoesNotApply) {
  std::vector<std::string> later;
  for (const PlanRow& row : plan_rows(make_plan({}, cpu_machine()))) {
    if (row.scope == "later") {
      later.push_back(row.key);
    }
  }
  EXPECT_EQ(later, (std::vector<std::string>{"checkpointing", "micro_batch", "cuda_graph",
                                             "data_workers", "prefetch", "numa_node", "parallelism",
                                             "backend", "bucket_mib"}));
  const std::string text = explain(make_plan({}, cpu_machine()));
  EXPECT_NE(text.find("later: not applied by this build yet\n"), std::string::npos);
  PlanOptions asked;
  asked.prefetch = 3;
  EXPECT_EQ(make_plan(asked, cpu_machine()).prefetch.reason,
            "asked by the program: this build does not apply it yet");
}

}  // namespace
}  // namespace libtrain
