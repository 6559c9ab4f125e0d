#include <gmock/gmock.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "libtrain/core/file_system.hpp"
#include "libtrain/core/text.hpp"
#include "tests/unit/cli/program.hpp"

namespace libtrain {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const std::string kMachines = std::string(LIBTRAIN_TEST_DATA) + "/machines/";
const std::string kA100 = "plan --machine " + kMachines + "a100-sxm4-80gb-x8.facts";

TEST(PlanCommand, ShowsTheRecordedPlan) {
  const ProgramResult result = run_fasttrain(kA100 + " --model resnet50");
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(result.errors, "");
  EXPECT_EQ(result.output,
            read_file(std::string(LIBTRAIN_TEST_DATA) + "/plans/a100-sxm4-80gb-x8-resnet50.txt"));
}

TEST(PlanCommand, WithoutAModelItsRowsArePending) {
  EXPECT_THAT(run_fasttrain(kA100).output, HasSubstr("pending: needs a model"));
}

TEST(PlanCommand, PlansThisMachineWithinThreeTenthsOfASecond) {
  const auto start = std::chrono::steady_clock::now();
  const ProgramResult result = run_fasttrain("plan");
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  // The shell's start and a loaded machine take their share of this: 0.3 s is what a user waits.
  EXPECT_LT(taken.count(), 1.0);
}

TEST(PlanCommand, SetAsksAsAProgramWould) {
  const ProgramResult result =
      run_fasttrain(kA100 + " --set precision=fp16 --set threads=3 --json");
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  const auto rows = nlohmann::json::parse(result.output);
  ASSERT_EQ(rows.size(), 24U);
  EXPECT_EQ(rows[1]["decision"], "precision");
  EXPECT_EQ(rows[1]["value"], "fp16");
  EXPECT_EQ(rows[1]["source"], "asked");
  EXPECT_EQ(rows[8]["value"], "3");
}

TEST(PlanCommand, PlansForAsManyProcessesAsAreAskedFor) {
  const auto value = [](const std::string& arguments, size_t row) {
    return nlohmann::json::parse(run_fasttrain(kA100 + " --json" + arguments).output)[row]["value"];
  };
  constexpr size_t kParallelism = 21;
  constexpr size_t kBackend = 22;
  EXPECT_EQ(value("", kParallelism), "alone");
  EXPECT_EQ(value(" --world 16", kParallelism), "ddp");
  EXPECT_EQ(value(" --world 16", kBackend), "nccl");
  EXPECT_EQ(run_fasttrain(kA100 + " --world 0").exit_code, 2);
}

TEST(PlanCommand, VariablesOfARecordedMachineAreItsOwn) {
  EXPECT_THAT(run_fasttrain(kA100, "FASTTRAIN_DEVICE=cpu").output, HasSubstr("cuda:0"));
}

TEST(PlanCommand, TellsKindsOfErrorsApart) {
  struct Row {
    std::string arguments;
    int exit_code;
    std::string message;
  };
  const std::vector<Row> table{
      {"", 2, "subcommand"},
      {"plan --nonsense", 2, "--nonsense"},
      {"plan --set precision", 2, "expected KEY=VALUE"},
      {kA100 + " --set precision=half", 78, "expected fp32, tf32, bf16 or fp16"},
      {kA100 + " --set device=cuda:8", 78, "no such GPU: device=cuda:8"},
      {kA100 + " --set attention=short", 78, "the own kernel runs on the CPU only"},
      {kA100 + " --model bert-bsae", 78, "did you mean bert-base?"},
      {"plan --machine /nonexistent.facts", 74, "/nonexistent.facts"},
      {kA100 + " --model ./nonexistent.facts", 74, "nonexistent.facts"},
      {"plan --machine " + std::string(LIBTRAIN_TEST_DATA) + "/CMakeLists.txt", 65,
       "CMakeLists.txt"},
      {kA100 + " > /dev/full", 74, "standard output"},
      {"plan --help > /dev/full", 74, "standard output"},
  };
  for (const Row& row : table) {
    const ProgramResult result = run_fasttrain(row.arguments);
    EXPECT_EQ(result.exit_code, row.exit_code) << row.arguments << "\n" << result.errors;
    EXPECT_THAT(result.errors, HasSubstr(row.message)) << row.arguments;
    EXPECT_EQ(result.output, "") << row.arguments;
    EXPECT_THAT(result.errors, Not(HasSubstr("\x1b"))) << row.arguments;
  }
}

TEST(PlanCommand, WhyShowsOneDecisionAndHowToOverrideIt) {
  const ProgramResult result = run_fasttrain(kA100 + " --why precision");
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(result.output,
            "precision = bf16 (by facts, scoped)\n"
            "compute capability 8.0: tensor cores take bf16 from 8.0 on\n"
            "--set precision=VALUE or FASTTRAIN_PRECISION=VALUE asks for another: fp32, tf32, bf16 "
            "or fp16\n");
  const ProgramResult unknown = run_fasttrain(kA100 + " --why precison");
  EXPECT_EQ(unknown.exit_code, 78);
  EXPECT_THAT(unknown.errors, HasSubstr("did you mean precision?"));
}

TEST(PlanCommand, DiffShowsWhatTwoMachinesDecideDifferently) {
  const std::string t4 = kMachines + "t4-x1.facts";
  const std::string a100 = kMachines + "a100-sxm4-80gb-x8.facts";
  const ProgramResult result = run_fasttrain("plan --diff " + t4 + " " + a100);
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.output, HasSubstr("precision\n"));
  EXPECT_THAT(result.output, HasSubstr("fp16: compute capability 7.5"));
  EXPECT_THAT(result.output, HasSubstr("bf16: compute capability 8.0"));
  EXPECT_THAT(result.output, Not(HasSubstr("optimizer")));
  EXPECT_EQ(run_fasttrain("plan --diff " + t4 + " " + t4).output, "no difference\n");
  EXPECT_EQ(run_fasttrain("plan --diff " + t4).exit_code, 2);
}

TEST(PlanCommand, VariablesThatNothingReadsAreRefused) {
  const ProgramResult result = run_fasttrain("plan", "FASTTRAIN_PRECISON=bf16");
  EXPECT_EQ(result.exit_code, 78);
  EXPECT_THAT(result.errors, HasSubstr("did you mean FASTTRAIN_PRECISION?"));
}

TEST(Program, TellsItsVersionAndItsHelp) {
  EXPECT_THAT(run_fasttrain("--version").output, StartsWith("fasttrain 0."));
  const ProgramResult help = run_fasttrain("plan --help");
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_THAT(help.output, HasSubstr("FASTTRAIN_PRECISION"));
}

}  // namespace
}  // namespace libtrain
