#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "libtrain/core/error.hpp"
#include "libtrain/format/aliases.hpp"

namespace libtrain::format {
namespace {

using testing::HasSubstr;
using Aliases = std::map<std::string, std::string>;

SafetensorsHeader header_with(const std::string& table) {
  SafetensorsHeader header;
  header.tensors = {{"embeddings", {}}, {"bias", {}}};
  header.metadata = {{std::string(kAliasesKey), table}};
  return header;
}

std::string message_of(const std::string& table) {
  try {
    parse_aliases(header_with(table), "model.safetensors");
  } catch (const BadFile& error) {
    EXPECT_EQ(error.file(), "model.safetensors");
    return error.what();
  }
  return "no error";
}

TEST(SafetensorsAliases, ReadBack) {
  const Aliases aliases = {{"decoder.weight", "embeddings"}, {"quote \" ü", "embeddings"}};
  EXPECT_EQ(parse_aliases(header_with(format_aliases(aliases)), "m"), aliases);
  EXPECT_EQ(format_aliases({{"b", "a"}}), R"({"b":"a"})");
  EXPECT_TRUE(parse_aliases(header_with(format_aliases({})), "m").empty());
  EXPECT_TRUE(parse_aliases({}, "m").empty());
}

TEST(SafetensorsAliases, AreRefusedInAFileThatDoesNotFitThem) {
  EXPECT_THAT(message_of("not json"), HasSubstr("[json.parse]"));
  EXPECT_THAT(message_of("[]"), HasSubstr("found array, expected an object"));
  EXPECT_THAT(message_of(R"({"x":"y"})"), HasSubstr("alias of no stored tensor"));
  EXPECT_THAT(message_of(R"({"x":1})"), HasSubstr("alias of no stored tensor"));
  EXPECT_THAT(message_of(R"({"bias":"embeddings"})"), HasSubstr("alias is also a stored tensor"));
  EXPECT_THAT(message_of(R"({"x":"bias","x":"bias"})"), HasSubstr("duplicate key"));
}

TEST(SafetensorsAliases, AreRefusedWhenTheyCouldNotBeReadBack) {
  EXPECT_THROW(format_aliases({{"a", "b"}, {"b", "c"}}), InvalidOption);
  EXPECT_THROW(format_aliases({{"a", "a"}}), InvalidOption);
  EXPECT_THROW(format_aliases({{"\xFF", "a"}}), InvalidOption);
}

}  // namespace
}  // namespace libtrain::format
