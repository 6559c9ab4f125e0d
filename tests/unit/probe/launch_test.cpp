#include "libtrain/probe/launch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace libtrain {
namespace {

using testing::HasSubstr;
using Environment = std::map<std::string, std::string>;

struct Place {
  std::optional<std::string> launcher;
  std::optional<int> rank;
  std::optional<int> world_size;
  std::optional<int> local_rank;
  std::optional<int> local_world_size;

  friend bool operator==(const Place&, const Place&) = default;
};

Place place_of(const LaunchFacts& facts) {
  return {facts.launcher, facts.rank, facts.world_size, facts.local_rank, facts.local_world_size};
}

Environment torchrun(const char* rank, const char* size, const char* local_rank,
                     const char* local_size) {
  return {{"TORCHELASTIC_RUN_ID", "none"},
          {"RANK", rank},
          {"WORLD_SIZE", size},
          {"LOCAL_RANK", local_rank},
          {"LOCAL_WORLD_SIZE", local_size}};
}

Environment slurm(const char* rank, const char* size) {
  return {{"SLURM_PROCID", rank}, {"SLURM_STEP_NUM_TASKS", size},
          {"SLURM_LOCALID", "1"}, {"SLURM_NODEID", "2"},
          {"SLURM_NTASKS", "99"}, {"SLURM_STEP_TASKS_PER_NODE", "4(x2),3"}};
}

TEST(Launch, OneProcessHasNoPlace) {
  const LaunchFacts facts = launch_from_environment({{"PATH", "/bin"}});
  EXPECT_EQ(place_of(facts), Place{});
  EXPECT_EQ(facts.problem, std::nullopt);
  EXPECT_TRUE(facts.variables.empty());
}

TEST(Launch, ReadsEachLaunchersVariables) {
  EXPECT_EQ(place_of(launch_from_environment(torchrun("5", "16", "1", "4"))),
            (Place{"torchrun", 5, 16, 1, 4}));
  EXPECT_EQ(place_of(launch_from_environment({{"OMPI_COMM_WORLD_RANK", "3"},
                                              {"OMPI_COMM_WORLD_SIZE", "8"},
                                              {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                                              {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}})),
            (Place{"openmpi", 3, 8, 1, 2}));
  EXPECT_EQ(place_of(launch_from_environment({{"PMI_RANK", "3"},
                                              {"PMI_SIZE", "8"},
                                              {"MPI_LOCALRANKID", "1"},
                                              {"MPI_LOCALNRANKS", "2"}})),
            (Place{"pmi", 3, 8, 1, 2}));
  EXPECT_EQ(place_of(launch_from_environment(slurm("9", "11"))), (Place{"slurm", 9, 11, 1, 3}));
}

TEST(Launch, ReadsSlurmsTasksOfEachNode) {
  const std::vector<std::tuple<const char*, const char*, std::optional<int>>> table = {
      {"4", "0", 4},         {"4(x2),3", "1", 4},     {"4(x2),3", "2", 3}, {"4(x2),3", "3", {}},
      {"1,2,1(x9)", "1", 2}, {"4(x", "0", {}},        {"(x2)", "0", {}},   {"0", "0", {}},
      {"4(x0),2", "0", {}},  {"9999999999", "0", {}}, {"", "0", {}},
  };
  for (const auto& [tasks, node, expected] : table) {
    Environment environment = slurm("0", "11");
    environment["SLURM_LOCALID"] = "0";
    environment["SLURM_STEP_TASKS_PER_NODE"] = tasks;
    environment["SLURM_NODEID"] = node;
    EXPECT_EQ(launch_from_environment(environment).local_world_size, expected) << tasks;
  }
}

TEST(Launch, ABatchScriptIsOneProcess) {
  EXPECT_EQ(place_of(launch_from_environment(
                {{"SLURM_PROCID", "0"}, {"SLURM_LOCALID", "0"}, {"SLURM_NTASKS", "8"}})),
            Place{});
}

TEST(Launch, TheInnermostLauncherWins) {
  Environment environment = slurm("1", "2");
  environment.merge(torchrun("13", "16", "5", "8"));
  const LaunchFacts facts = launch_from_environment(environment);
  EXPECT_EQ(place_of(facts), (Place{"torchrun", 13, 16, 5, 8}));
  EXPECT_EQ(facts.problem, std::nullopt);
}

TEST(Launch, NamesWhatContradicts) {
  const std::vector<std::pair<Environment, const char*>> table = {
      {torchrun("16", "16", "0", "8"), "RANK=16 with WORLD_SIZE=16, expected a smaller RANK"},
      {torchrun("8", "16", "8", "8"), "LOCAL_RANK=8 with LOCAL_WORLD_SIZE=8, expected a smaller"},
      {torchrun("1", "16", "2", "8"), "LOCAL_RANK=2 with RANK=1, expected no more than the rank"},
      {torchrun("1", "2", "1", "4"), "LOCAL_WORLD_SIZE=4 with WORLD_SIZE=2, expected no more"},
      {torchrun("-1", "2", "0", "1"), "RANK=\"-1\", expected an integer of at least 0"},
      {torchrun("0", "0", "0", "1"), "WORLD_SIZE=\"0\", expected an integer of at least 1"},
      {torchrun("0", "2x", "0", "1"), "WORLD_SIZE=\"2x\", expected an integer of at least 1"},
      {torchrun("", "2", "0", "1"), "RANK=\"\", expected an integer"},
      {{{"RANK", "0"}}, "one of RANK and WORLD_SIZE is not set"},
      {{{"OMPI_COMM_WORLD_RANK", "0"}}, "one of OMPI_COMM_WORLD_RANK and OMPI_COMM_WORLD_SIZE"},
      {slurm("11", "11"), "SLURM_PROCID=11 with SLURM_STEP_NUM_TASKS=11"},
  };
  for (const auto& [environment, expected] : table) {
    EXPECT_THAT(launch_from_environment(environment).problem.value_or(""), HasSubstr(expected));
  }
}

TEST(Launch, NamesARankThatTheOuterLauncherContradicts) {
  Environment environment = slurm("3", "11");
  environment["RANK"] = "0";
  environment["WORLD_SIZE"] = "11";
  EXPECT_EQ(launch_from_environment(environment).problem,
            "RANK=0 with SLURM_PROCID=3, expected the same rank");
  environment["RANK"] = "3";
  EXPECT_EQ(launch_from_environment(environment).problem, std::nullopt);
  environment["WORLD_SIZE"] = "88";  // a step that starts eight processes each
  environment["RANK"] = "24";
  EXPECT_EQ(launch_from_environment(environment).problem, std::nullopt);
}

TEST(Launch, KeepsTheVariablesThatSteerTraining) {
  const LaunchFacts facts = launch_from_environment({{"FASTTRAIN_THREADS", "4"},
                                                     {"CUDA_VISIBLE_DEVICES", ""},
                                                     {"NCCL_DEBUG", "INFO"},
                                                     {"TORCH_CUDA_ARCH_LIST", "8.0"},
                                                     {"PYTORCH_ALLOC_CONF", "x"},
                                                     {"OMP_NUM_THREADS", "1"},
                                                     {"MKL_NUM_THREADS", "1"},
                                                     {"KMP_AFFINITY", "x"},
                                                     {"NVIDIA_TF32_OVERRIDE", "0"},
                                                     {"NVIDIA_VISIBLE_DEVICES", "all"},
                                                     {"LD_PRELOAD", "libjemalloc.so.2"},
                                                     {"MASTER_ADDR", "node1"},
                                                     {"MALLOC_ARENA_MAX", "1"},
                                                     {"GLOO_SOCKET_IFNAME", "eth0"},
                                                     {"HOME", "/root"},
                                                     {"XOMP_", "1"}});
  EXPECT_EQ(facts.variables.size(), 14U);
  EXPECT_EQ(facts.variables.at("CUDA_VISIBLE_DEVICES"), "");
  EXPECT_FALSE(facts.variables.contains("HOME"));
}

}  // namespace
}  // namespace libtrain
