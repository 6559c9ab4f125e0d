#include <gmock/gmock.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "libtrain/core/text.hpp"
#include "tests/unit/cli/program.hpp"

namespace libtrain {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string kMachines = std::string(LIBTRAIN_TEST_DATA) + "/machines/";
const std::string kV100 = "doctor --machine " + kMachines + "v100-torch-2.15.facts";
const std::string kA100 = "doctor --machine " + kMachines + "a100-sxm4-80gb-x8.facts";

TEST(DoctorCommand, ExitsWithOneWhenACheckFailed) {
  const ProgramResult result = run_fasttrain(kV100);
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.errors, "");
  EXPECT_THAT(result.output, HasSubstr("FAIL  driver.targets"));
  EXPECT_THAT(result.output, HasSubstr("mend: pip install torch==2.14.1"));
}

TEST(DoctorCommand, OnlyLooksAtTheAreasAskedFor) {
  const ProgramResult result = run_fasttrain(kV100 + " --only settings --only cpu");
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_THAT(result.output, HasSubstr("settings.binding"));
  EXPECT_THAT(result.output, HasSubstr("cpu.isa"));
  EXPECT_THAT(result.output, Not(HasSubstr("driver.")));
}

TEST(DoctorCommand, WarningsCountWhenStrict) {
  const std::string bridge =
      "doctor --only link --machine " + kMachines + "a6000-x3-one-pair.facts";
  const ProgramResult result = run_fasttrain(bridge);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.output, HasSubstr("WARN  link.nvlink"));
  EXPECT_EQ(run_fasttrain(bridge + " --strict").exit_code, 1);
  EXPECT_EQ(run_fasttrain(kA100 + " --strict --only gpu").exit_code, 0);
}

TEST(DoctorCommand, PrintsAListInJson) {
  const ProgramResult result = run_fasttrain(kV100 + " --json");
  const auto list = nlohmann::json::parse(result.output);
  EXPECT_GE(list.size(), 45U);
  for (const auto& finding : list) {
    EXPECT_TRUE(finding.contains("verdict")) << finding.dump();
  }
  EXPECT_EQ(result.exit_code, 1);
}

TEST(DoctorCommand, ChecksThisMachineWithinTwoSeconds) {
  const auto start = std::chrono::steady_clock::now();
  const ProgramResult result = run_fasttrain("doctor", "TORCH_CUDA_ARCHLIST=8.0");
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  EXPECT_LE(result.exit_code, 1) << result.errors;
  EXPECT_THAT(result.output, HasSubstr("WARN  environment.names"));
  EXPECT_LT(taken.count(), 2.0);
  EXPECT_EQ(
      run_fasttrain("doctor --strict --only environment", "TORCH_CUDA_ARCHLIST=8.0").exit_code, 1);
}

TEST(DoctorCommand, AWrongOptionOfOursIsAFindingAndNoCrash) {
  const ProgramResult result = run_fasttrain("doctor --json", "FASTTRAIN_PRECISON=bf16");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.output, HasSubstr("did you mean FASTTRAIN_PRECISION?"));
}

TEST(DoctorCommand, TellsKindsOfErrorsApart) {
  EXPECT_EQ(run_fasttrain("doctor --only nonsense").exit_code, 2);
  EXPECT_EQ(run_fasttrain("doctor --machine /nonexistent.facts").exit_code, 74);
  EXPECT_EQ(run_fasttrain(kA100 + " > /dev/full").exit_code, 74);
}

}  // namespace
}  // namespace libtrain
