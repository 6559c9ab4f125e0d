#include "libtrain/format/json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>

#include "libtrain/core/error.hpp"
#include "libtrain/core/text.hpp"

namespace libtrain::format {
namespace {

using namespace std::string_literals;
using testing::HasSubstr;

/// Parses `text`, which must fail, and gives the error.
BadFile fault_of(std::string_view text) {
  try {
    parse_json(text, "config.json");
  } catch (const BadFile& error) {
    EXPECT_EQ(error.file(), "config.json");
    EXPECT_EQ(error.fault(), FileFault::kContent);
    EXPECT_THAT(error.what(), HasSubstr("file=\"config.json\""));
    EXPECT_THAT(error.what(), HasSubstr(fill("byte={}", error.offset())));
    return error;
  }
  ADD_FAILURE() << "accepted: " << text;
  return BadFile("", "");
}

TEST(Json, ReadsEveryKindOfValue) {
  const Json json = parse_json(
      " {\"b\": [1, -2, 3.5, 1e3, true, false, null, \"\\u00e9\\ud83d\\ude42\\n\"], \"a\": {}}\r\n",
      "config.json");
  EXPECT_EQ(json.dump(), "{\"b\":[1,-2,3.5,1000.0,true,false,null,\"é🙂\\n\"],\"a\":{}}");
  EXPECT_EQ(parse_json("7", "x"), 7);
  EXPECT_EQ(parse_json("\"\"", "x"), "");
}

TEST(Json, KeepsTheLimitsOfIntegers) {
  EXPECT_EQ(parse_json("18446744073709551615", "x").get<uint64_t>(), UINT64_MAX);
  EXPECT_EQ(parse_json("-9223372036854775808", "x").get<int64_t>(), INT64_MIN);
}

TEST(Json, RefusesNumbersOutOfRange) {
  EXPECT_EQ(fault_of("[18446744073709551616]").offset(), 1);
  EXPECT_EQ(fault_of("[1, -9223372036854775809]").offset(), 4);
  EXPECT_EQ(fault_of("{\"a\": 1e999}").offset(), 6);
  EXPECT_THAT(fault_of("{\"a\": -1e999}").what(), HasSubstr("number out of range"));
}

TEST(Json, RefusesWhatOnlyPythonWrites) {
  EXPECT_EQ(fault_of("[NaN]").offset(), 1);
  EXPECT_EQ(fault_of("[Infinity]").offset(), 1);
  EXPECT_EQ(fault_of("[-Infinity]").offset(), 2);
  fault_of("{'a': 1}");
  fault_of("[01]");
  fault_of("[+1]");
  fault_of("[.5]");
  fault_of("[1,]");
  fault_of("{\"a\": 1,}");
  fault_of("[1] // comment");
}

TEST(Json, RefusesDuplicateKeysAtEveryLevel) {
  EXPECT_EQ(fault_of("{\"a\": 1, \"b\": 2, \"a\": 3}").offset(), 17);
  EXPECT_EQ(fault_of("[{\"x\": {\"a\": {}, \"a\": 1}}]").offset(), 17);
  EXPECT_EQ(fault_of("{\"a\": 1,\n \t\"\\u0061\": 3}").offset(), 11);
  EXPECT_THAT(fault_of("{\"a\": 1, \"a\": 3}").what(), HasSubstr("duplicate key"));
  EXPECT_NO_THROW(parse_json("{\"a\": {\"a\": [{\"a\": 1}, {\"a\": 1}]}, \"b\": {\"a\": 1}}", "x"));
}

TEST(Json, RefusesDepthAboveTheLimit) {
  const auto nested = [](size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_NO_THROW(parse_json(nested(64), "x"));
  EXPECT_EQ(fault_of(nested(65)).offset(), 64);
  EXPECT_EQ(fault_of(std::string(1 << 20, '[')).offset(), 64);
  // Siblings are not deep.
  std::string wide = "[";
  for (int i = 0; i < 100; ++i) {
    wide += "[[]],";
  }
  EXPECT_NO_THROW(parse_json(wide + "{}]", "x"));
}

TEST(Json, RefusesAnythingAfterTheValue) {
  EXPECT_EQ(fault_of("{} x").offset(), 3);
  EXPECT_EQ(fault_of("{}{}").offset(), 2);
  EXPECT_EQ(fault_of("{}\0"s).offset(), 2);
  EXPECT_EQ(fault_of("{}\0garbage"s).offset(), 2);
}

TEST(Json, RefusesTextThatEndsTooEarly) {
  for (const std::string text : {"", " ", "{", "[1", "{\"a\"", "{\"a\":", "\"abc", "tru", "[1,"}) {
    const BadFile error = fault_of(text);
    EXPECT_EQ(error.offset(), static_cast<int64_t>(text.size())) << text;
    EXPECT_THAT(error.what(), HasSubstr("ends too early"));
  }
}

TEST(Json, RefusesWhatIsNotUtf8) {
  EXPECT_EQ(fault_of("[\"\xFF\"]").offset(), 2);
  EXPECT_EQ(fault_of("[\"\xC0\x80\"]").offset(), 2);
  fault_of("[\"\xED\xA0\x80\"]");      // surrogate
  fault_of("[\"\\ud800\"]");           // half of a pair
  fault_of("[\"\xF4\x90\x80\x80\"]");  // above U+10FFFF
  fault_of("[\"a\nb\"]");              // raw control character
  EXPECT_THAT(fault_of("\xEF\xBB\xBF{}").what(), HasSubstr("byte order mark"));
}

TEST(Json, QuotesUntrustedTextInTheMessage) {
  const std::string long_key(1000, 'k');
  const BadFile error = fault_of(fill("{\"{}\":1,\"{}\":2}", long_key, long_key));
  EXPECT_LT(std::string(error.what()).size(), 300U);
  EXPECT_THAT(fault_of("[\x1b]").what(), testing::Not(HasSubstr("\x1b")));
}

TEST(Json, ReadsAVocabularyInLinearTime) {
  const auto seconds = [](int keys) {
    std::string text = "{";
    for (int i = 0; i < keys; ++i) {
      text += fill("{}\"{}\":{}", i == 0 ? "" : ",", i, i);
    }
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(parse_json(text + "}", "x").size(), static_cast<size_t>(keys));
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  // Quadratic time would be 400 times longer; 100 leaves room for a busy machine.
  EXPECT_LT(seconds(100'000), 100 * std::max(seconds(5'000), 1e-3));
}

}  // namespace
}  // namespace libtrain::format
