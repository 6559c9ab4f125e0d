#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "libtrain/core/file_system.hpp"
#include "libtrain/core/text.hpp"
#include "libtrain/facts/machine_file.hpp"

namespace libtrain {
namespace {

std::vector<std::string> recorded_machines() {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(LIBTRAIN_TEST_DATA "/machines")) {
    if (entry.path().extension() == ".facts") {
      paths.push_back(entry.path().string());
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string without_comments(std::string_view text) {
  std::string out;
  for (const std::string_view line : split(text, '\n')) {
    if (!line.empty() && line.front() != '#') {
      out.append(line).append("\n");
    }
  }
  return out;
}

class RecordedMachine : public testing::TestWithParam<std::string> {};

TEST_P(RecordedMachine, IsWrittenAsTheProbeWouldWriteIt) {
  const std::string text = read_file(GetParam());
  EXPECT_EQ(format_machine_facts(parse_machine_facts(text, GetParam())), without_comments(text));
}

TEST_P(RecordedMachine, SaysWhatEveryDecisionNeeds) {
  const MachineFacts facts = read_machine_facts(GetParam());
  EXPECT_TRUE(facts.library.torch_version);
  EXPECT_TRUE(facts.cpu.logical_cpus || !facts.gpus.empty());
  EXPECT_EQ(facts.library.cuda_version.has_value(), facts.library.cuda_archs.has_value());
  for (const GpuFacts& gpu : facts.gpus) {
    EXPECT_TRUE(gpu.problem || gpu.compute_capability);
  }
}

std::string stem(const testing::TestParamInfo<std::string>& info) {
  std::string name = std::filesystem::path(info.param).stem().string();
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '-' || c == '.'; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, RecordedMachine, testing::ValuesIn(recorded_machines()), stem);

}  // namespace
}  // namespace libtrain
