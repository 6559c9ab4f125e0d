#include "libtrain/core/text.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace libtrain {
namespace {

TEST(Text, NumbersAreShortestAndReadBack) {
  EXPECT_EQ(to_text(0.1), "0.1");
  EXPECT_EQ(to_text(1e-5), "1e-05");
  EXPECT_EQ(to_text(int64_t{-7}), "-7");
  EXPECT_EQ(to_text(3), "3");
  EXPECT_EQ(parse_number(to_text(1.0 / 3.0)), 1.0 / 3.0);
  EXPECT_TRUE(std::isnan(*parse_number(to_text(std::nan("")))));
}

TEST(Text, FillReplacesInOrderAndLeavesTheRest) {
  EXPECT_EQ(fill("{} of {} {}", 1, "two"), "1 of two {}");
  EXPECT_EQ(fill("{}", "{}"), "{}");
}

TEST(Text, ParsersTakeTheWholeTextOrNothing) {
  EXPECT_EQ(parse_integer("42"), 42);
  for (const char* bad : {"", " 42", "42 ", "+42", "4.2", "0x10", "9223372036854775808"}) {
    EXPECT_EQ(parse_integer(bad), std::nullopt) << bad;
  }
  EXPECT_EQ(parse_number("1.5e3"), 1500.0);
  EXPECT_EQ(parse_number("1,5"), std::nullopt);
  EXPECT_EQ(parse_bool("On"), true);
  EXPECT_EQ(parse_bool("no"), false);
  EXPECT_EQ(parse_bool("2"), std::nullopt);
}

TEST(Text, QuotedMakesUntrustedTextSafe) {
  EXPECT_EQ(quote("a\"b\n\x1b"), R"("a\"b\x0a\x1b")");
  EXPECT_EQ(quote("na\xc3\xafve"), "\"na\xc3\xafve\"");
  EXPECT_EQ(quote("bad\xff"), R"("bad\xff")");
  EXPECT_EQ(quote(std::string(100, 'x'), 3), "\"xxx\"... (100 bytes)");
}

TEST(Text, QuotedEscapesWhatATerminalObeys) {
  EXPECT_EQ(quote("\xc2\x9b"
                  "31m"),
            R"("\xc2\x9b31m")");  // U+009B starts a command as ESC [ does
  EXPECT_EQ(quote("a\xe2\x80\xae"
                  "b"),
            R"("a\xe2\x80\xaeb")");  // U+202E turns the line around
  EXPECT_EQ(quote("a\xe2\x80\xa8"
                  "b"),
            R"("a\xe2\x80\xa8b")");  // U+2028 ends it
  EXPECT_EQ(quote("\xc2\xa0\xe2\x80\x93\xf0\x9f\x98\x80"),
            "\"\xc2\xa0\xe2\x80\x93\xf0\x9f\x98\x80\"");
}

TEST(Text, Utf8FollowsRfc3629) {
  EXPECT_TRUE(is_valid_utf8("\xe6\x97\xa5\xf0\x9f\x98\x80"));
  for (const char* bad : {"\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe6\x97", "\x80"}) {
    EXPECT_FALSE(is_valid_utf8(bad));
  }
}

TEST(Text, SplitKeepsEmptyPartsAndTrimTakesAllSpace) {
  EXPECT_EQ(split("a\t\tb", '\t'), (std::vector<std::string_view>{"a", "", "b"}));
  EXPECT_EQ(split("", ','), (std::vector<std::string_view>{""}));
  EXPECT_EQ(trim(" \t x y \r\n"), "x y");
  EXPECT_EQ(trim(" "), "");
}

TEST(Text, BytesReadLikeBytes) {
  EXPECT_EQ(format_bytes(512), "512 B");
  EXPECT_EQ(format_bytes(1536), "1.5 KiB");
  EXPECT_EQ(format_bytes(int64_t{80} << 30), "80.0 GiB");
}

}  // namespace
}  // namespace libtrain
