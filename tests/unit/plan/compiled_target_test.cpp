#include "libtrain/plan/compiled_target.hpp"

#include <gtest/gtest.h>

#include "tests/unit/plan/example_machines.hpp"

namespace libtrain {
namespace {

constexpr Version kCuda130{13, 0, 0};
constexpr Version kCuda132{13, 2, 0};

std::string served_by(const std::vector<std::string>& targets, ComputeCapability device,
                      std::optional<Version> cuda = kCuda130) {
  return serving_target(targets, device, cuda).value_or("none");
}

TEST(CompiledTarget, TheWheelOf215ServesWhatItsMajorsCover) {
  const std::vector<std::pair<ComputeCapability, std::string>> table{
      {{6, 1}, "none"},    {{7, 0}, "none"},  {{7, 5}, "sm_75"},   {{8, 0}, "sm_80"},
      {{8, 6}, "sm_86"},   {{8, 9}, "sm_86"}, {{9, 0}, "sm_90"},   {{10, 0}, "sm_100"},
      {{10, 3}, "sm_100"}, {{11, 0}, "none"}, {{12, 0}, "sm_120"}, {{12, 1}, "sm_120"},
      {{13, 0}, "none"},
  };
  for (const auto& [device, target] : table) {
    EXPECT_EQ(served_by(examples::kTargetsOf215, device), target) << to_text(device);
  }
}

TEST(CompiledTarget, NewerCardThanEveryTargetNeedsPtx) {
  EXPECT_EQ(served_by({"sm_80", "sm_90"}, {12, 0}), "none");
  EXPECT_EQ(served_by({"sm_80", "sm_90", "compute_90"}, {12, 0}), "compute_90");
  EXPECT_EQ(served_by({"8.0", "9.0+PTX"}, {12, 0}), "9.0+PTX");
  EXPECT_EQ(served_by({"compute_90"}, {8, 0}), "none");
}

TEST(CompiledTarget, MachineCodeComesBeforePtxAndNewerBeforeOlder) {
  EXPECT_EQ(served_by({"compute_86", "sm_80"}, {8, 9}), "sm_80");
  EXPECT_EQ(served_by({"sm_86", "sm_80"}, {8, 9}), "sm_86");
  EXPECT_EQ(served_by({"sm_89"}, {8, 6}), "none");
}

TEST(CompiledTarget, SuffixesNarrowTheReach) {
  EXPECT_EQ(served_by({"sm_90a"}, {9, 0}), "sm_90a");
  EXPECT_EQ(served_by({"sm_100a"}, {10, 3}), "none");
  EXPECT_EQ(served_by({"compute_90a"}, {10, 0}), "none");
  EXPECT_EQ(served_by({"sm_100f"}, {10, 3}), "sm_100f");
  EXPECT_EQ(served_by({"compute_100f"}, {12, 0}), "none");
}

TEST(CompiledTarget, IntegratedGpusHaveTheirOwnMachineCode) {
  EXPECT_EQ(served_by({"sm_80", "sm_86"}, {8, 7}, kCuda130), "none");
  EXPECT_EQ(served_by({"sm_80", "sm_86"}, {8, 7}, kCuda132), "sm_86");
  EXPECT_EQ(served_by({"sm_87"}, {8, 9}, kCuda132), "none");
  EXPECT_EQ(served_by({"sm_87"}, {8, 7}, std::nullopt), "sm_87");
  EXPECT_EQ(served_by({"sm_50"}, {5, 3}, kCuda132), "none");
}

TEST(CompiledTarget, TheOldNameOfThorIsTheSameDevice) {
  EXPECT_EQ(served_by({"sm_101"}, {11, 0}), "sm_101");
  EXPECT_EQ(served_by({"sm_100"}, {10, 1}), "none");
}

TEST(CompiledTarget, UnreadableTargetsServeNothing) {
  EXPECT_EQ(served_by({"", "sm_", "gfx90a", "120"}, {12, 0}), "none");
  EXPECT_EQ(served_by({}, {8, 0}), "none");
}

}  // namespace
}  // namespace libtrain
