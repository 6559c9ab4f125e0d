#include "planted_bugs.hpp"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <map>

#include "libtrain/core/error.hpp"
#include "libtrain/sim/host_waits.hpp"
#include "libtrain/sim/sim.hpp"
#include "sim_support.hpp"

namespace libtrain::sim {

namespace test {

at::Tensor Setting::ones(at::IntArrayRef sizes) const { return at::ones(sizes, device()); }

at::Tensor Setting::ones_of_other(at::IntArrayRef sizes) const {
  return at::ones(sizes, device(1));
}

at::Tensor Setting::pinned(at::IntArrayRef sizes) const {
  return at::ones(sizes, at::TensorOptions().pinned_memory(true));
}

}  // namespace test

namespace {

using namespace test;

std::vector<PlantedBug> all_bugs() {
  std::vector<PlantedBug> all = bugs_between_streams();
  for (auto* more : {&bugs_of_pinned_memory, &bugs_of_waits_and_devices}) {
    for (PlantedBug& bug : more()) {
      all.push_back(std::move(bug));
    }
  }
  return all;
}

/// Each program runs twice: right, with nothing found, and with one line left out, moved or
/// changed, which is found with all that takes part named.
class PlantedBugs : public testing::TestWithParam<PlantedBug> {
 protected:
  void SetUp() override { start_afresh(); }
  void TearDown() override { start_afresh(); }

  static void run(bool is_right) {
    Setting setting = base();
    setting.is_right = is_right;
    GetParam().run(setting);
  }
  static void run_without_waits(bool is_right) {
    const NoHostWait scope;
    run(is_right);
  }

  static std::string described(const Use& use) {
    const Setting& s = base();
    const std::map<std::string, std::string> names{{"first", name(s.first)},
                                                   {"side", name(s.side)},
                                                   {"third", name(s.third)},
                                                   {"other", name(s.other)},
                                                   {"the host", "the host"}};
    return use.op + " on " + names.at(use.where);
  }
  static std::string described(const Place& place) { return place.op + " on " + place.where; }

  void expect(const UnorderedUses& expected) {
    run(true);
    EXPECT_THAT(races(), testing::IsEmpty()) << races().front().text();
    start_afresh();
    run(false);
    const std::vector<Race> found = races();
    ASSERT_EQ(1u, found.size()) << (found.empty() ? "" : found[1].text());
    EXPECT_EQ(expected.hazard, found[0].hazard);
    EXPECT_EQ(described(expected.earlier), described(found[0].earlier));
    EXPECT_EQ(described(expected.later), described(found[0].later));
    EXPECT_THAT(found[0].text(), testing::AllOf(testing::HasSubstr(described(expected.earlier)),
                                                testing::HasSubstr(described(expected.later))));
  }

  void expect(const ForbiddenWait& expected) {
    run_without_waits(true);
    EXPECT_THAT(host_waits(), testing::IsEmpty());
    EXPECT_THAT(
        [] { run_without_waits(false); },
        testing::ThrowsMessage<DeviceError>(testing::AllOf(
            testing::HasSubstr(expected.op + " makes the host wait for " + name(base().first)),
            testing::HasSubstr("NoHostWait"))));
    EXPECT_THAT(races(), testing::IsEmpty());
  }

  void expect(const Refused& expected) {
    run(true);
    for (const std::string& word : expected.words) {
      EXPECT_THAT([] { run(false); },
                  testing::ThrowsMessage<DeviceError>(testing::HasSubstr(word)));
    }
  }

 private:
  static const Setting& base() {
    static const Setting setting{true, default_stream(), new_stream(), new_stream(), new_stream(1)};
    return setting;
  }
};

TEST_P(PlantedBugs, AreFoundAndTheirCorrectedTwinsAreNot) {
  std::visit([this](const auto& expected) { expect(expected); }, GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(Each, PlantedBugs, testing::ValuesIn(all_bugs()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace libtrain::sim
