#include "libtrain/probe/measured.hpp"

#include <gmock/gmock.h>

#include "libtrain/facts/measured_file.hpp"
#include "libtrain/probe/probe.hpp"
#include "tests/support/fake_sources.hpp"

namespace libtrain {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(MeasuredFolder, IsInTheUsersCache) {
  EXPECT_EQ(measured_folder({{"HOME", "/home/a"}}), "/home/a/.cache/fasttrain");
  EXPECT_EQ(measured_folder({{"HOME", "/home/a"}, {"XDG_CACHE_HOME", "/cache"}}),
            "/cache/fasttrain");
  EXPECT_EQ(measured_folder({{"HOME", "/home/a"}, {"XDG_CACHE_HOME", "relative"}}),
            "/home/a/.cache/fasttrain");
  EXPECT_EQ(measured_folder({{"HOME", ""}}), std::nullopt);
  EXPECT_EQ(measured_folder({}), std::nullopt);
}

class ProbeMeasured : public testing::Test {
 protected:
  ProbeMeasured() {
    sources_.variables["HOME"] = "/home/a";
    machine_ = probe_machine(sources_);
    kept_.date = "2026-03-14";
    kept_.threads = {{"1", 20.5}, {"2", 11.25}};
    file_ = "/home/a/.cache/fasttrain/" + measured_file_name(machine_);
    sources_.files[file_] = format_measured_facts(kept_, machine_);
  }

  FakeSources sources_;
  MachineFacts machine_;
  MeasuredFacts kept_;
  std::string file_;
};

TEST_F(ProbeMeasured, ReadsWhatWasKept) {
  EXPECT_EQ(machine_.measured, MeasuredFacts{});
  EXPECT_EQ(probe_machine(sources_).measured, kept_);
}

TEST_F(ProbeMeasured, IsTurnedOffByAVariable) {
  sources_.variables["FASTTRAIN_MEASURED"] = "off";
  EXPECT_EQ(probe_machine(sources_).measured, MeasuredFacts{});
}

TEST_F(ProbeMeasured, HoldsForThisMachineOnly) {
  sources_.affinity_mask = {0, 1, 2};
  EXPECT_EQ(probe_machine(sources_).measured, MeasuredFacts{});
}

TEST_F(ProbeMeasured, ATornFileIsNamed) {
  sources_.files[file_].resize(30);
  const MeasuredFacts facts = probe_machine(sources_).measured;
  EXPECT_TRUE(facts.threads.empty());
  ASSERT_TRUE(facts.problem);
  EXPECT_THAT(*facts.problem, HasSubstr(file_));
}

TEST(MeasuredFileName, DiffersWithWhatMeasurementsDependOn) {
  MachineFacts machine;
  const std::string name = measured_file_name(machine);
  EXPECT_THAT(name, StartsWith("measured-"));
  machine.host.memory_bytes = 5;
  EXPECT_EQ(measured_file_name(machine), name);
  machine.library.torch_version = "2.15.0";
  EXPECT_NE(measured_file_name(machine), name);
}

}  // namespace
}  // namespace libtrain
