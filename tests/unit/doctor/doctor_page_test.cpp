#include <gtest/gtest.h>

#include <cstdlib>

#include "libtrain/core/file_system.hpp"
#include "libtrain/core/text.hpp"
#include "libtrain/doctor/doctor.hpp"
#include "tests/unit/doctor/doctor_cases.hpp"

namespace libtrain {
namespace {

constexpr std::string_view kMark =
    "<!-- Below: written by doctor_test, LIBTRAIN_UPDATE_DOCS=1 -->\n";

/// Of the finding of the first case of `check`, what the tool prints.
std::string example_of(std::string_view check) {
  for (const DoctorCase& test : doctor_cases()) {
    if (test.check != check) {
      continue;
    }
    MachineFacts machine = test.machine();
    test.harm(machine);
    for (const Finding& finding : diagnose(machine)) {
      if (finding.check == check) {
        const std::string text = describe_findings({finding}, 100);
        return text.substr(0, text.rfind('\n', text.size() - 2) + 1);  // without the counts
      }
    }
  }
  return "";
}

std::string expected_sections() {
  std::string out;
  std::string_view area;
  for (const CheckInfo& check : doctor_checks()) {
    if (area_of(check.name) != area) {
      area = area_of(check.name);
      out += fill("\n## {}\n", area);
    }
    out += fill("\n`{}`: {}?\n\n```\n{}```\n", check.name, check.question, example_of(check.name));
  }
  return out;
}

/// LIBTRAIN_UPDATE_DOCS=1 writes the page's second part instead of comparing it.
TEST(DoctorPage, ShowsEveryCheckWithAnExample) {
  const std::string file = LIBTRAIN_TEST_DATA "/../docs/doctor.md";
  const std::string page = read_file(file);
  const size_t mark = page.find(kMark);
  ASSERT_NE(mark, std::string::npos);
  const std::string expected = page.substr(0, mark) + std::string(kMark) + expected_sections();
  if (std::getenv("LIBTRAIN_UPDATE_DOCS") != nullptr) {
    write_file_atomically(file, expected);
  } else {
    EXPECT_EQ(page, expected) << "LIBTRAIN_UPDATE_DOCS=1 rewrites it";
  }
}

}  // namespace
}  // namespace libtrain
