#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "libtrain/core/text.hpp"
#include "tests/unit/cli/program.hpp"

namespace libtrain {
namespace {

using testing::HasSubstr;

/// The environment in which the tool finds the machine tests/nvidia/NAME.txt.
std::string on_machine(const std::string& name) {
  return libtrain::fill("LD_LIBRARY_PATH='{}' LIBTRAIN_FAKE_NVIDIA='{}/nvidia/{}.txt'",
                        FAKE_NVIDIA_FOLDER, LIBTRAIN_TEST_DATA, name);
}

TEST(ProbeCommand, ListsTheGpusOfTheDriverItFinds) {
  const ProgramResult result = run_fasttrain("probe --json", on_machine("lost-in-mid-probe"));
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.errors, "");
  const auto facts = nlohmann::json::parse(result.output);
  ASSERT_EQ(facts["gpu"].size(), 3U);
  EXPECT_EQ(facts["gpu"][2]["name"], "NVIDIA A100-SXM4-40GB");
  EXPECT_THAT(facts["gpu"][1]["problem"].get<std::string>(), HasSubstr("GPU is lost"));
}

TEST(ProbeCommand, EndsWithinASecondWhenTheDriverHangs) {
  double best = 60;  // the others may wait for a processor
  for (int i = 0; i < 3; ++i) {
    const auto start = std::chrono::steady_clock::now();
    const ProgramResult result = run_fasttrain("probe", on_machine("hangs-at-start"));
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_THAT(result.output, HasSubstr("did not answer within 0.7 s"));
    best = std::min(best, taken.count());
  }
  EXPECT_LT(best, 1.0);
}

}  // namespace
}  // namespace libtrain
