#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>

#include "libtrain/core/file_system.hpp"
#include "libtrain/plan/explain.hpp"
#include "libtrain/plan/make_plan.hpp"
#include "libtrain/plan/model_presets.hpp"

namespace libtrain {
namespace {

const std::filesystem::path kTests = LIBTRAIN_TEST_DATA;
constexpr std::array<std::string_view, 2> kModels{"bert-base", "resnet50"};

std::vector<std::string> recorded_machines() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kTests / "machines")) {
    if (entry.path().extension() == ".facts") {
      names.push_back(entry.path().stem());
    }
  }
  std::ranges::sort(names);
  return names;
}

std::string plan_text(const std::string& machine_name, const std::string& model_name) {
  const std::string file = kTests / "machines" / (machine_name + ".facts");
  const MachineFacts machine = parse_machine_facts(read_file(file), file);
  const Plan plan = make_plan({}, machine);
  return explain(complete_plan(plan, {}, machine, *model_preset(model_name)));
}

bool updating() { return std::getenv("LIBTRAIN_UPDATE_PLANS") != nullptr; }

class PlanFiles : public testing::TestWithParam<std::string> {};

/// LIBTRAIN_UPDATE_PLANS=1 writes the files instead of comparing: read the diff before committing.
TEST_P(PlanFiles, MatchToTheLetter) {
  for (const std::string_view model : kModels) {
    const std::string text = plan_text(GetParam(), std::string(model));
    const std::string file = kTests / "plans" / (GetParam() + "-" + std::string(model) + ".txt");
    if (updating()) {
      write_file_atomically(file, text);
    } else {
      EXPECT_EQ(text, read_file(file)) << file << "; LIBTRAIN_UPDATE_PLANS=1 rewrites it";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Recorded, PlanFiles, testing::ValuesIn(recorded_machines()),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::ranges::replace_if(
                               name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
                           return name;
                         });

TEST(PlanFilesFolder, HoldsNoPlanOfAMachineThatIsGone) {
  if (updating()) {
    GTEST_SKIP() << "the folder is being rewritten";
  }
  const std::vector<std::string> machines = recorded_machines();
  ASSERT_GE(machines.size(), 15U);
  size_t plans = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kTests / "plans")) {
    plans += entry.path().extension() == ".txt" ? 1 : 0;
  }
  EXPECT_EQ(plans, machines.size() * kModels.size());
}

}  // namespace
}  // namespace libtrain
