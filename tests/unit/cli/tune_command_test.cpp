// `fasttrain tune` beside a program that says how long a step takes without taking one.

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "libtrain/core/file_system.hpp"
#include "libtrain/core/text.hpp"
#include "tests/unit/cli/program.hpp"

namespace libtrain {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class TuneCommand : public testing::Test {
 protected:
  TuneCommand() {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    fs::copy_file(FASTTRAIN_PROGRAM, folder_ / "fasttrain");
    step_takes("if [ \"$FASTTRAIN_OPTIMIZER\" = fused ]; then echo 40; else echo 80.5; fi");
  }
  ~TuneCommand() override { fs::remove_all(folder_); }

  void step_takes(const std::string& script) {
    const fs::path program = folder_ / "fasttrain-step-time";
    std::ofstream(program) << "#!/bin/sh\n" << script << "\n";
    fs::permissions(program, fs::perms::owner_all);
  }

  ProgramResult run(const std::string& arguments, const std::string& environment = "") {
    return run_program(
        folder_ / "fasttrain", arguments,
        fill("FASTTRAIN_DEVICE=cpu XDG_CACHE_HOME='{}' {}", cache_.string(), environment));
  }

  fs::path folder_ = fs::temp_directory_path() / fill("fasttrain-tune-{}", int64_t{getpid()});
  fs::path cache_ = folder_ / "cache";
};

TEST_F(TuneCommand, PlansOfThisMachineUseWhatWasMeasured) {
  const ProgramResult tuned = run("tune --rounds 2");
  EXPECT_EQ(tuned.exit_code, 0) << tuned.errors;
  EXPECT_THAT(tuned.output, HasSubstr("80.5 ms"));
  EXPECT_THAT(tuned.output, HasSubstr("40.0 ms"));
  EXPECT_THAT(tuned.output, HasSubstr("Kept in " + cache_.string() + "/fasttrain/measured-"));

  const ProgramResult plan = run("plan --why optimizer");
  EXPECT_THAT(plan.output, HasSubstr("optimizer = fused (by measured"));
  EXPECT_THAT(plan.output, HasSubstr("40 ms with fused, 80.5 ms with own_kernel"));
  EXPECT_THAT(run("plan --why optimizer", "FASTTRAIN_MEASURED=off").output,
              HasSubstr("optimizer = own_kernel (by facts"));
  EXPECT_THAT(run("probe").output, HasSubstr("optimizer fused        40 ms"));
}

TEST_F(TuneCommand, ASettingThatFailsIsLeftOut) {
  step_takes(
      "[ \"$FASTTRAIN_OPTIMIZER\" != fused ] || { echo 'no such form' >&2; exit 78; }\necho 9");
  const ProgramResult tuned = run("tune --rounds 1");
  EXPECT_EQ(tuned.exit_code, 0) << tuned.errors;
  EXPECT_THAT(tuned.output, HasSubstr("not possible, exit code 78: \"no such form\""));
  EXPECT_THAT(run("plan --why optimizer").output, HasSubstr("optimizer = own_kernel"));
}

TEST_F(TuneCommand, NothingIsKeptWhenAStepFails) {
  step_takes("echo broken; kill -9 $$");
  const ProgramResult tuned = run("tune --rounds 1");
  EXPECT_EQ(tuned.exit_code, 1);
  EXPECT_THAT(tuned.errors, HasSubstr("exit code 137: \"broken\""));
  EXPECT_TRUE(fs::is_empty(cache_ / "fasttrain"));
}

TEST_F(TuneCommand, SaysWhatIsMissing) {
  fs::remove(folder_ / "fasttrain-step-time");
  EXPECT_EQ(run("tune").exit_code, 78);
  EXPECT_THAT(run("tune").errors, HasSubstr("fasttrain-step-time"));
  EXPECT_EQ(run("tune --rounds 0").exit_code, 2);
  EXPECT_EQ(run("tune", "XDG_CACHE_HOME=/proc/none").exit_code, 74);
}

}  // namespace
}  // namespace libtrain
