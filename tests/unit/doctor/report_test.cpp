#include "libtrain/doctor/doctor.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace libtrain {
namespace {

const std::vector<Finding> kFindings{
    {"a.b", Verdict::kPass, "fine", "", ""},
    {"area.longer", Verdict::kWarn, "one two three four five six seven", "slow", "do this"},
};

TEST(Report, ShowsWhatAFindingMeansAndWhatMendsIt) {
  EXPECT_EQ(describe_findings(kFindings, 50),
            "PASS  a.b          fine\n"
            "WARN  area.longer  one two three four five six\n"
            "                   seven\n"
            "                   means: slow\n"
            "                   mend: do this\n"
            "0 FAIL, 1 WARN, 1 PASS, 0 SKIP\n");
}

TEST(Report, HoldsNoControlCharactersOfTheMachine) {
  const std::string text =
      describe_findings({{"a.b", Verdict::kPass, "\x1b[31m\xc2\x9b\xFF\n", "", ""}}, 100);
  EXPECT_EQ(text, "PASS  a.b  \\x1b[31m\\xc2\\x9b\\xff\\x0a\n0 FAIL, 0 WARN, 1 PASS, 0 SKIP\n");
}

TEST(Report, IsAListInJson) {
  const auto list = nlohmann::json::parse(findings_json(kFindings));
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[1]["check"], "area.longer");
  EXPECT_EQ(list[1]["verdict"], "WARN");
  EXPECT_EQ(list[1]["remedy"], "do this");
}

}  // namespace
}  // namespace libtrain
