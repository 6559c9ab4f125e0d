#include "libtrain/facts/view.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace libtrain {
namespace {

using testing::HasSubstr;
using testing::Not;

MachineFacts some_machine() {
  MachineFacts facts;
  facts.host.os = "linux";
  facts.host.memory_bytes = int64_t{80} << 30;
  facts.cpu.avx2 = true;
  facts.cpu.cores = 8;
  facts.library.cuda_archs = {"sm_80"};
  facts.launch.variables["OMP_NUM_THREADS"] = "1";
  facts.gpus.resize(1);
  facts.gpus[0].compute_capability = ComputeCapability{12, 0};
  facts.gpus[0].memory_bytes = 512;
  return facts;
}

TEST(MachineTable, ShowsValuesInWordsAndUnits) {
  const std::string text = describe_machine(some_machine());
  EXPECT_THAT(text, HasSubstr("host\n  os                     linux\n"));
  EXPECT_THAT(text, HasSubstr("\n  memory                 80.0 GiB\n"));
  EXPECT_THAT(text, HasSubstr("\n  avx2                   yes\n"));
  EXPECT_THAT(text, HasSubstr("\n  cuda archs             [sm_80]\n"));
  EXPECT_THAT(text, HasSubstr("\n  OMP_NUM_THREADS        1\n"));
  EXPECT_THAT(text, HasSubstr("\ngpu 0\n"));
  EXPECT_THAT(text, HasSubstr("\n  compute capability     12.0\n"));
}

TEST(MachineTable, TellsTheUnknownFromWhatIsKnownToBeAbsent) {
  const std::string text = describe_machine(some_machine());
  EXPECT_THAT(text, HasSubstr("\n  kernel                 unknown\n"));
  EXPECT_THAT(text, HasSubstr("\n  quota cpus             no limit\n"));
  EXPECT_THAT(text, HasSubstr("\n  visible devices        not set\n"));
  EXPECT_THAT(text, HasSubstr("\n  problem                none\n"));
}

TEST(MachineTable, SaysWhyAFactIsUnknownAndWhatALimitIs) {
  MachineFacts facts = some_machine();
  facts.gpus[0].unknown["pcie_width"] = "Not Supported\n(NVML error 3)";
  facts.host.open_files = kUnlimited;
  facts.host.locked_memory_bytes = kUnlimited;
  const std::string text = describe_machine(facts);
  EXPECT_THAT(text, HasSubstr("\n  pcie width             unknown: "
                              "\"Not Supported\\n(NVML error 3)\"\n"));
  EXPECT_THAT(text, HasSubstr("\n  open files             unlimited\n"));
  EXPECT_THAT(text, HasSubstr("\n  locked memory          unlimited\n"));
}

TEST(MachineTable, ShowsTheMakersFiguresOfAKnownGpu) {
  MachineFacts facts = some_machine();
  EXPECT_THAT(describe_machine(facts), HasSubstr("\n  peaks                  unknown\n"));
  facts.gpus[0].name = "NVIDIA L4";
  EXPECT_THAT(describe_machine(facts), HasSubstr("\n  peak bf16 TFLOP/s      121\n"));
}

TEST(MachineTable, SaysThatThereIsNoGpu) {
  EXPECT_THAT(describe_machine(MachineFacts{}), HasSubstr("\nno gpu\n"));
}

TEST(MachineTable, HoldsNoControlCharactersOfTheEnvironment) {
  MachineFacts facts;
  facts.launch.variables["OMP_X"] = "\x1b[31mred\xc2\x9b\n";
  EXPECT_THAT(describe_machine(facts),
              HasSubstr("OMP_X                  \"\\x1b[31mred\\xc2\\x9b\\n\"\n"));
  EXPECT_THAT(describe_machine(facts), Not(HasSubstr("\x1b")));
}

TEST(MachineJson, HoldsEveryFactUnderItsName) {
  const auto json = nlohmann::json::parse(machine_facts_json(some_machine()));
  EXPECT_EQ(json["host"]["memory_bytes"], int64_t{80} << 30);
  EXPECT_TRUE(json["host"]["kernel"].is_null());
  EXPECT_EQ(json["cpu"]["avx2"], true);
  EXPECT_EQ(json["library"]["cuda_archs"], nlohmann::json::array({"sm_80"}));
  EXPECT_EQ(json["launch"]["variable"]["OMP_NUM_THREADS"], "1");
  EXPECT_EQ(json["gpu"][0]["compute_capability"], "12.0");
  EXPECT_TRUE(json["gpu_driver"]["problem"].is_null());
}

TEST(MachineJson, IsUtf8WhateverTheEnvironmentHolds) {
  MachineFacts facts;
  facts.launch.variables["OMP_X"] = "\xFF";
  EXPECT_EQ(nlohmann::json::parse(machine_facts_json(facts))["launch"]["variable"]["OMP_X"],
            "\xEF\xBF\xBD");
}

}  // namespace
}  // namespace libtrain
