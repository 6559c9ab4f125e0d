#include <gtest/gtest.h>

#include "libtrain/plan/choose_arch_list.hpp"
#include "libtrain/plan/choose_nccl_settings.hpp"
#include "libtrain/plan/make_plan.hpp"
#include "tests/unit/plan/example_machines.hpp"

namespace libtrain {
namespace {

using examples::a100_machine;
using examples::program_asks;

/// A job of two machines with two InfiniBand ports, one of them a bond's.
MachineFacts machine_with_bond() {
  MachineFacts machine = a100_machine();
  machine.network.interfaces = {{"bond0"}};
  machine.network.infiniband = {{"mlx5_0/1", "mlx5_bond_0/1"}};
  machine.launch.world_size = 2;
  machine.launch.local_world_size = 1;
  return machine;
}

std::string value_of(const std::vector<ProcessVariable>& variables, std::string_view name) {
  for (const ProcessVariable& variable : variables) {
    if (variable.name == name) {
      return variable.value;
    }
  }
  return "";
}

TEST(ChooseArchList, NamesEachCapabilityOnce) {
  MachineFacts machine = a100_machine();
  machine.gpus.push_back(examples::gpu(1, {12, 0}, "NVIDIA GeForce RTX 5090"));
  machine.gpus.push_back(examples::gpu(2, {9, 0}, "NVIDIA H200"));
  machine.gpus.push_back(examples::gpu(3, {8, 0}, "NVIDIA A100-SXM4-80GB"));
  EXPECT_EQ(choose_arch_list({}, machine).value, "8.0;9.0;12.0+PTX");
  EXPECT_EQ(choose_arch_list({}, examples::cpu_machine()).value, "none");
  EXPECT_EQ(choose_arch_list(program_asks(std::string("9.0a")), machine).value, "9.0a");
}

TEST(ChooseNcclSettings, LeavesABondOutWhereAnotherPortIsActive) {
  const MachineFacts machine = machine_with_bond();
  EXPECT_EQ(choose_nccl_settings({}, machine).value, NcclSettings::kByEvidence);
  EXPECT_EQ(value_of(process_environment(make_plan({}, machine), machine), "NCCL_IB_HCA"),
            "^=mlx5_bond_0");
  MachineFacts bond_alone = machine;
  bond_alone.network.infiniband = {{"mlx5_bond_0/1"}};
  EXPECT_TRUE(nccl_evidence(bond_alone).empty());
  MachineFacts one_machine = machine;
  one_machine.launch.local_world_size = 2;
  EXPECT_TRUE(nccl_evidence(one_machine).empty());
  MachineFacts no_bond = machine;
  no_bond.network.infiniband = {{"mlx5_0/1", "mlx5_1/1"}};
  EXPECT_EQ(choose_nccl_settings({}, no_bond),
            (Decision<NcclSettings>{NcclSettings::kUnchanged, Source::kDefault,
                                    "no fact speaks for a setting of NCCL"}));
}

TEST(ChooseNcclSettings, AskedToBeUnchangedTheyAre) {
  const MachineFacts machine = machine_with_bond();
  PlanOptions asked;
  asked.nccl_settings = NcclSettings::kUnchanged;
  EXPECT_EQ(value_of(process_environment(make_plan(asked, machine), machine), "NCCL_IB_HCA"), "");
}

TEST(ChooseNcclSettings, NeverSwitchesTrafficBetweenGpusOff) {
  MachineFacts machine = machine_with_bond();
  machine.gpus[0].acs_bridges = {{"0000:20:00.0"}};
  machine.gpus[0].iommu = "DMA";
  machine.gpus[0].peers.emplace();
  for (const ProcessVariable& variable : process_environment(make_plan({}, machine), machine)) {
    EXPECT_NE(variable.name, "NCCL_P2P_DISABLE");
  }
}

}  // namespace
}  // namespace libtrain
