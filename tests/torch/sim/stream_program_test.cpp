#include "stream_program.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "sim_support.hpp"

namespace libtrain::sim {
namespace {

using namespace test;

constexpr int kPrograms = 1000;

std::string text(const StreamProgram& program) {
  std::string lines;
  for (const Step& step : program) {
    lines += std::to_string(step.kind) + " lane " + std::to_string(step.lane) + " from " +
             std::to_string(step.from) + " to " + std::to_string(step.to) +
             (step.is_fill ? " fill" : "") + "\n";
  }
  return lines;
}

class StreamPrograms : public testing::Test {
 protected:
  const std::vector<c10::Stream> streams{new_stream(), new_stream(), new_stream()};
};

TEST_F(StreamPrograms, ThatAreCorrectAreReportedNever) {
  std::mt19937_64 random(1);
  for (int i = 0; i < kPrograms; ++i) {
    const StreamProgram program = correct_program(random, 30);
    const std::vector<FoundRace> found = run(program, streams);
    ASSERT_TRUE(found.empty()) << found[0].earlier << ", " << found[0].later << "\n"
                               << text(program);
  }
}

/// Whatever is reported is a race by the definition, and at each step where one is, one is
/// reported.
TEST_F(StreamPrograms, WithOneOrderingLessHaveEveryRaceFound) {
  std::mt19937_64 random(2);
  int racy_programs = 0;
  for (int i = 0; i < kPrograms; ++i) {
    StreamProgram program = correct_program(random, 30);
    std::vector<size_t> orders;
    for (size_t step = 0; step < program.size(); ++step) {
      if (program[step].orders()) {
        orders.push_back(step);
      }
    }
    program.erase(program.begin() + static_cast<int64_t>(orders[random() % orders.size()]));

    const std::vector<RacyStep> racy = brute_force_races(program);
    const std::vector<FoundRace> found = run(program, streams);
    racy_programs += !racy.empty();
    for (const FoundRace& race : found) {
      const bool is_real = std::any_of(racy.begin(), racy.end(), [&race](const RacyStep& step) {
        return std::find(step.races.begin(), step.races.end(), race) != step.races.end();
      });
      ASSERT_TRUE(is_real) << race.earlier << ", " << race.later << "\n" << text(program);
    }
    // After its first race a tensor's uses count as ordered, so later ones may be told as one with
    // it.
    std::vector<bool> seen(kTensors, false);
    for (const RacyStep& step : racy) {
      const bool is_found =
          std::any_of(step.races.begin(), step.races.end(), [&found](const FoundRace& race) {
            return std::find(found.begin(), found.end(), race) != found.end();
          });
      ASSERT_TRUE(is_found || seen[step.tensor])
          << "step " << step.step << ": " << step.races[0].earlier << ", " << step.races[0].later
          << "\n"
          << text(program);
      seen[step.tensor] = true;
    }
  }
  EXPECT_GT(racy_programs, kPrograms / 4);
}

TEST_F(StreamPrograms, GiveTheSameReportsEachTime) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 20; ++i) {
    StreamProgram program = correct_program(random, 30);
    std::erase_if(program, [](const Step& step) { return step.orders(); });
    EXPECT_EQ(run(program, streams), run(program, streams));
  }
}

}  // namespace
}  // namespace libtrain::sim
