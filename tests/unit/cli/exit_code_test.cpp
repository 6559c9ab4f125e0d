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

}  // namespace
}  // namespace libtrain
