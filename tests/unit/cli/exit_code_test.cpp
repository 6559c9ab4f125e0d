#include "libtrain/cli/exit_code.hpp"

#include <gtest/gtest.h>

#include "libtrain/core/error.hpp"

namespace libtrain {
namespace {

TEST(ExitCode, TellsALauncherWhatTheErrorMeans) {
  EXPECT_EQ(exit_code_of(InvalidOption("")), 78);
  EXPECT_EQ(exit_code_of(Unsupported("")), 78);
  EXPECT_EQ(exit_code_of(BadFile("", "f", 0, FileFault::kContent)), 65);
  EXPECT_EQ(exit_code_of(BadFile("", "f", -1, FileFault::kInput)), 74);
  EXPECT_EQ(exit_code_of(BadFile("", "f", -1, FileFault::kOutput)), 74);
  EXPECT_EQ(exit_code_of(DeviceError("")), 1);
  EXPECT_EQ(exit_code_of(std::bad_alloc()), 1);
}

TEST(ExitCode, OfFindingsIsThatOfTheWorst) {
  const std::vector<Finding> fine{{"a.a", Verdict::kPass, "", "", ""},
                                  {"a.b", Verdict::kSkip, "", "", ""}};
  const std::vector<Finding> warned{{"a.a", Verdict::kWarn, "", "", ""},
                                    {"a.b", Verdict::kPass, "", "", ""}};
  const std::vector<Finding> failed{{"a.a", Verdict::kPass, "", "", ""},
                                    {"a.b", Verdict::kFail, "", "", ""}};
  EXPECT_EQ(exit_code_of({}, true), 0);
  EXPECT_EQ(exit_code_of(fine, true), 0);
  EXPECT_EQ(exit_code_of(warned, false), 0);
  EXPECT_EQ(exit_code_of(warned, true), 1);
  EXPECT_EQ(exit_code_of(failed, false), 1);
}

}  // namespace
}  // namespace libtrain
