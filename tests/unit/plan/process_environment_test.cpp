#include <gtest/gtest.h>

#include "libtrain/plan/make_plan.hpp"
#include "tests/unit/plan/example_machines.hpp"

namespace libtrain {
namespace {

using Values = std::map<std::string, std::string>;

Values values_of(const MachineFacts& machine) {
  Values out;
  for (const ProcessVariable& variable : process_environment(make_plan({}, machine), machine)) {
    EXPECT_FALSE(variable.reason.empty()) << variable.name;
    out[variable.name] = variable.value;
  }
  return out;
}

TEST(ProcessEnvironment, CarriesTheCudaPlan) {
  EXPECT_EQ(values_of(examples::a100_machine()),
            (Values{{"TORCH_CUDA_ARCH_LIST", "8.0+PTX"},
                    {"PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True"},
                    {"OMP_NUM_THREADS", "16"}}));
}

TEST(ProcessEnvironment, CarriesTheCpuPlan) {
  EXPECT_EQ(values_of(examples::cpu_machine()), (Values{{"MALLOC_MMAP_THRESHOLD_", "2147483647"},
                                                        {"MALLOC_TRIM_THRESHOLD_", "2147483647"},
                                                        {"OMP_NUM_THREADS", "16"}}));
}

TEST(ProcessEnvironment, UnlikeGpusAreListedOnceEachAndOrderedByBus) {
  MachineFacts machine = examples::a100_machine();
  machine.gpus.push_back(examples::gpu(1, {12, 0}, "NVIDIA GeForce RTX 5090"));
  machine.gpus.push_back(examples::gpu(2, {8, 0}, "NVIDIA A100-SXM4-80GB"));
  const Values values = values_of(machine);
  EXPECT_EQ(values.at("TORCH_CUDA_ARCH_LIST"), "8.0;12.0+PTX");
  EXPECT_EQ(values.at("CUDA_DEVICE_ORDER"), "PCI_BUS_ID");
}

TEST(ProcessEnvironment, HiddenGpusAndUnknownOnesAreNoEvidence) {
  MachineFacts machine = examples::a100_machine();
  machine.gpus[0].cuda_index.reset();
  EXPECT_FALSE(values_of(machine).contains("TORCH_CUDA_ARCH_LIST"));
  MachineFacts unknown;
  EXPECT_EQ(values_of(unknown), Values{});
}

TEST(ProcessEnvironment, LeavesWhatIsSetAlone) {
  MachineFacts machine = examples::a100_machine();
  machine.launch.variables = {{"TORCH_CUDA_ARCH_LIST", "9.0"},
                              {"PYTORCH_ALLOC_CONF", "max_split_size_mb:64"},
                              {"OMP_NUM_THREADS", "4"}};
  EXPECT_EQ(values_of(machine), Values{});
}

TEST(ProcessEnvironment, SeveralProcessesWithoutANetworkTalkOverLoopback) {
  MachineFacts machine = examples::a100_machine();
  machine.gpus.push_back(examples::gpu(1, {8, 0}, "NVIDIA A100-SXM4-80GB"));
  machine.network.interfaces.emplace();
  machine.launch.world_size = 2;
  machine.launch.local_world_size = 2;
  EXPECT_EQ(values_of(machine).at("NCCL_SOCKET_IFNAME"), "lo");
  machine.launch.world_size = 4;
  EXPECT_FALSE(values_of(machine).contains("NCCL_SOCKET_IFNAME")) << "other machines are needed";
  machine.launch.world_size = 2;
  machine.network.interfaces->emplace_back("eth0");
  EXPECT_FALSE(values_of(machine).contains("NCCL_SOCKET_IFNAME"));
  machine.network.interface_addresses = {{"none"}};
  EXPECT_EQ(values_of(machine).at("NCCL_SOCKET_IFNAME"), "lo") << "up, and of no use";
  machine.network.interface_addresses = {{"link-local"}};
  EXPECT_FALSE(values_of(machine).contains("NCCL_SOCKET_IFNAME"));
}

}  // namespace
}  // namespace libtrain
