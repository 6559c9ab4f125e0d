#include "libtrain/format/tsv.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "libtrain/core/error.hpp"
#include "libtrain/core/text.hpp"

namespace libtrain::format {
namespace {

using namespace std::string_literals;
using testing::AllOf;
using testing::HasSubstr;

/// Parses `contents`, which must fail, and gives the error.
BadFile fault_of(std::string_view contents) {
  try {
    parse_tsv(contents, "train.tsv");
  } catch (const BadFile& error) {
    EXPECT_EQ(error.file(), "train.tsv");
    EXPECT_EQ(error.fault(), FileFault::kContent);
    EXPECT_THAT(error.what(), HasSubstr("file=\"train.tsv\""));
    return error;
  }
  ADD_FAILURE() << "accepted";
  return BadFile("", "");
}

TEST(Tsv, ReadsTextsAndPairs) {
  const auto rows = parse_tsv("pos\tein schöner Film\nneg\ta\tb\n0\t", "train.tsv");
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].label, "pos");
  EXPECT_EQ(rows[0].text, "ein schöner Film");
  EXPECT_EQ(rows[0].second, std::nullopt);
  EXPECT_EQ(rows[1].text, "a");
  EXPECT_EQ(rows[1].second, "b");
  EXPECT_EQ(rows[2].text, "");
}

TEST(Tsv, TakesEitherLineEndAndAByteOrderMark) {
  const auto rows = parse_tsv("\xEF\xBB\xBFpos\ta\r\nneg\tb\tc\r\n", "train.tsv");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].label, "pos");
  EXPECT_EQ(rows[0].text, "a");
  EXPECT_EQ(rows[1].second, "c");
  EXPECT_EQ(parse_tsv("x\t\"quoted\"\r inside", "t").at(0).text, "\"quoted\"\r inside");
}

TEST(Tsv, RefusesAnEmptyFile) {
  EXPECT_THAT(fault_of("").what(), HasSubstr("file is empty"));
  EXPECT_THAT(fault_of("\xEF\xBB\xBF").what(), HasSubstr("file is empty"));
}

TEST(Tsv, NamesTheLineThatIsWrong) {
  const BadFile no_tab = fault_of("pos\ta\nneg\tb\r\nno tab here\npos\tc\n");
  EXPECT_THAT(no_tab.what(), AllOf(HasSubstr("line has no tab"), HasSubstr("line=3, byte=13"),
                                   HasSubstr("text=\"no tab here\"")));
  EXPECT_EQ(no_tab.offset(), 13);
  EXPECT_THAT(fault_of("pos\ta\n\nneg\tb\n").what(), HasSubstr("line=2"));
  EXPECT_THAT(fault_of("pos\ta\n\r\n").what(), HasSubstr("line=2"));
  EXPECT_THAT(fault_of("a\tb\tc\td\n").what(), HasSubstr("too many tabs"));
  EXPECT_THAT(fault_of("a\tb\n\tb\n").what(), AllOf(HasSubstr("no label"), HasSubstr("line=2")));
  EXPECT_THAT(fault_of("a\tb\na\tb\0c\n"s).what(),
              AllOf(HasSubstr("NUL byte"), HasSubstr("line=2")));
  EXPECT_THAT(fault_of("a\tb\na\t\xC3(\n").what(),
              AllOf(HasSubstr("not UTF-8"), HasSubstr("line=2")));
}

TEST(Tsv, RefusesALineThatIsTooLong) {
  const std::string start = "a\tb\nc\t";
  EXPECT_EQ(parse_tsv(start + std::string(9'999'998, 'x'), "t").size(), 2U);
  const BadFile error = fault_of(start + std::string(9'999'999, 'x') + "\n");
  EXPECT_THAT(error.what(), AllOf(HasSubstr("too long"), HasSubstr("line=2"),
                                  HasSubstr("at most 10000000 bytes")));
  EXPECT_LT(std::string(error.what()).size(), 400U);
}

TEST(Tsv, NamesAFileThatIsMissing) {
  try {
    read_tsv("/nowhere/train.tsv");
    FAIL() << "no error";
  } catch (const BadFile& error) {
    EXPECT_EQ(error.fault(), FileFault::kInput);
    EXPECT_EQ(error.file(), "/nowhere/train.tsv");
  }
}

}  // namespace
}  // namespace libtrain::format
