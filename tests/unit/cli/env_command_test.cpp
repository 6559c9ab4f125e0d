#include <gmock/gmock.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "libtrain/core/text.hpp"
#include "tests/unit/cli/program.hpp"

namespace libtrain {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const std::string kMachines = std::string(LIBTRAIN_TEST_DATA) + "/machines/";
const std::string kA100 = "env --machine " + kMachines + "a100-sxm4-80gb-x8.facts";

std::string output_of(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command.c_str(), "r"), ::pclose);
  std::string out;
  for (int c = std::fgetc(pipe.get()); c != EOF; c = std::fgetc(pipe.get())) {
    out.push_back(static_cast<char>(c));
  }
  return out;
}

TEST(EnvCommand, EvalSetsWhatItPrints) {
  const std::string eval = libtrain::fill("eval \"$('{}' {})\"; ", FASTTRAIN_PROGRAM, kA100);
  EXPECT_EQ(output_of(eval + "printf %s \"$TORCH_CUDA_ARCH_LIST $PYTORCH_CUDA_ALLOC_CONF\""),
            "8.0+PTX expandable_segments:True");
  EXPECT_EQ(output_of(eval + "env | grep -c ^TORCH_CUDA_ARCH_LIST="), "1\n") << "exported";
}

TEST(EnvCommand, GivesEachVariableItsReason) {
  const ProgramResult result = run_fasttrain(kA100);
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.output, StartsWith("# "));
  EXPECT_THAT(result.output, HasSubstr("\nexport TORCH_CUDA_ARCH_LIST='8.0+PTX'\n# "));
  EXPECT_THAT(result.output,
              HasSubstr("\nexport PYTORCH_CUDA_ALLOC_CONF='expandable_segments:True'\n"));
}

TEST(EnvCommand, WritesOtherForms) {
  EXPECT_THAT(run_fasttrain(kA100 + " --format docker").output,
              HasSubstr("\nTORCH_CUDA_ARCH_LIST=8.0+PTX\n"));
  EXPECT_THAT(run_fasttrain(kA100 + " --format slurm").output,
              HasSubstr("\n#SBATCH --export=\"ALL,TORCH_CUDA_ARCH_LIST=8.0+PTX,"));
  const auto json = nlohmann::json::parse(run_fasttrain(kA100 + " --format json").output);
  EXPECT_EQ(json["TORCH_CUDA_ARCH_LIST"]["value"], "8.0+PTX");
  EXPECT_FALSE(json["TORCH_CUDA_ARCH_LIST"]["reason"].empty());
  EXPECT_EQ(run_fasttrain(kA100 + " --format yaml").exit_code, 2);
}

}  // namespace
}  // namespace libtrain
