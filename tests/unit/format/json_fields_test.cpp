#include "libtrain/format/json_fields.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "libtrain/core/error.hpp"

namespace libtrain::format {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const Json& config() {
  static const Json json = parse_json(
      R"({"size": 768, "rate": 0.1, "cased": true, "kind": "bert", "none": null, "list": [1],
          "huge": 9223372036854775808, "whole": 1.0})",
      "config.json");
  return json;
}

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const BadFile& error) {
    EXPECT_EQ(error.file(), "config.json");
    return error.what();
  }
  return "no error";
}

TEST(JsonFields, GiveTheValue) {
  EXPECT_EQ(require_int(config(), "size", "config.json"), 768);
  EXPECT_EQ(require_number(config(), "rate", "config.json"), 0.1);
  EXPECT_EQ(require_number(config(), "size", "config.json"), 768.0);
  EXPECT_TRUE(require_bool(config(), "cased", "config.json"));
  EXPECT_EQ(require_string(config(), "kind", "config.json"), "bert");
  EXPECT_EQ(find_int(config(), "size", "config.json"), 768);
  EXPECT_EQ(find_number(config(), "rate", "config.json"), 0.1);
  EXPECT_EQ(find_bool(config(), "cased", "config.json"), true);
  EXPECT_EQ(find_string(config(), "kind", "config.json"), "bert");
}

TEST(JsonFields, MayBeMissingOrNullWhereOptional) {
  EXPECT_EQ(find_int(config(), "absent", "config.json"), std::nullopt);
  EXPECT_EQ(find_string(config(), "none", "config.json"), std::nullopt);
}

TEST(JsonFields, NameFileKeyAndExpectationWhenMissing) {
  EXPECT_THAT(message_of([] { require_int(config(), "hidden_size", "config.json"); }),
              AllOf(HasSubstr("missing field"), HasSubstr("file=\"config.json\""),
                    HasSubstr("key=\"hidden_size\""), HasSubstr("expected an integer")));
}

TEST(JsonFields, NameWhatStandsThereWhenTheTypeIsWrong) {
  EXPECT_THAT(message_of([] { require_int(config(), "kind", "config.json"); }),
              AllOf(HasSubstr("found \"bert\""), HasSubstr("key=\"kind\"")));
  EXPECT_THAT(message_of([] { require_int(config(), "rate", "config.json"); }),
              HasSubstr("found 0.1"));
  EXPECT_THAT(message_of([] { require_int(config(), "none", "config.json"); }),
              HasSubstr("found null"));
  EXPECT_THAT(message_of([] { find_bool(config(), "size", "config.json"); }),
              AllOf(HasSubstr("found 768"), HasSubstr("expected true or false")));
  EXPECT_THAT(message_of([] { find_string(config(), "list", "config.json"); }),
              AllOf(HasSubstr("found an array"), HasSubstr("expected a string")));
  EXPECT_THAT(message_of([] { require_number(config(), "cased", "config.json"); }),
              AllOf(HasSubstr("found true"), HasSubstr("expected a number")));
}

TEST(JsonFields, RefuseIntegersThatWouldChange) {
  EXPECT_THAT(message_of([] { require_int(config(), "huge", "config.json"); }),
              HasSubstr("found 9223372036854775808"));
  EXPECT_THAT(message_of([] { require_int(config(), "whole", "config.json"); }),
              HasSubstr("expected an integer"));
}

TEST(JsonFields, NeedAnObject) {
  EXPECT_THAT(message_of([] { require_int(Json::array(), "size", "config.json"); }),
              HasSubstr("found an array where an object should hold the field"));
}

}  // namespace
}  // namespace libtrain::format
