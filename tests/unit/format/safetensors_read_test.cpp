#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "libtrain/core/error.hpp"
#include "libtrain/core/text.hpp"
#include "libtrain/format/safetensors.hpp"

namespace libtrain::format {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

std::string file_of(std::string_view json, size_t data_bytes) {
  const uint64_t length = json.size();
  std::string file(8, '\0');
  std::memcpy(file.data(), &length, 8);
  return file.append(json).append(data_bytes, 'd');
}

SafetensorsHeader parse(const std::string& file) {
  return parse_safetensors(std::as_bytes(std::span(file)), "model.safetensors");
}

/// Parses `file`, which must fail, and gives the error.
BadFile fault_of(const std::string& file) {
  try {
    parse(file);
  } catch (const BadFile& error) {
    EXPECT_EQ(error.file(), "model.safetensors");
    EXPECT_EQ(error.fault(), FileFault::kContent);
    EXPECT_THAT(error.what(), HasSubstr("file=\"model.safetensors\""));
    EXPECT_THAT(error.what(), HasSubstr(fill("byte={}", error.offset())));
    return error;
  }
  ADD_FAILURE() << "accepted: " << file.substr(8);
  return BadFile("", "");
}

/// A header with one tensor "w" of the given fields and 8 bytes of data.
BadFile fault_of_tensor(std::string_view fields) {
  return fault_of(file_of(fill("{\"w\":{{}}}", fields), 8));
}

TEST(SafetensorsReader, GivesTensorsAndMetadata) {
  const std::string file = file_of(
      R"({"__metadata__":{"format":"pt"},"b":{"dtype":"F32","shape":[1,2],"data_offsets":[4,12]},)"
      R"("a":{"dtype":"I16","shape":[2],"data_offsets":[0,4]}}  )",
      12);
  const SafetensorsHeader header = parse(file);
  EXPECT_THAT(header.metadata, ElementsAre(Pair("format", "pt")));
  ASSERT_EQ(header.tensors.size(), 2U);
  const TensorEntry& b = header.tensors.at("b");
  EXPECT_EQ(b.dtype, DType::kF32);
  EXPECT_THAT(b.shape, ElementsAre(1, 2));
  EXPECT_EQ(b.bytes.size(), 8U);
  EXPECT_EQ(reinterpret_cast<const char*>(b.bytes.data()), file.data() + file.size() - 8);
}

TEST(SafetensorsReader, TakesScalarsAndEmptyTensors) {
  const SafetensorsHeader header = parse(
      file_of(R"({"scalar":{"dtype":"F64","shape":[],"data_offsets":[0,8]},)"
              R"("none":{"dtype":"F32","shape":[0,3],"data_offsets":[0,0]},)"
              R"("also":{"dtype":"F32","shape":[4611686018427387904,0],"data_offsets":[8,8]}})",
              8));
  EXPECT_EQ(header.tensors.at("scalar").bytes.size(), 8U);
  EXPECT_THAT(header.tensors.at("scalar").shape, IsEmpty());
  EXPECT_EQ(header.tensors.at("none").bytes.size(), 0U);
  EXPECT_TRUE(parse(file_of("{}", 0)).tensors.empty());
  EXPECT_TRUE(parse(file_of("{}      ", 0)).tensors.empty());
}

TEST(SafetensorsReader, RefusesABadHeaderLength) {
  EXPECT_THAT(fault_of("").what(), HasSubstr("size=0 bytes"));
  EXPECT_THAT(fault_of("1234567").what(), HasSubstr("file is cut off"));
  EXPECT_THAT(fault_of(std::string(8, '\0')).what(), HasSubstr("no JSON object"));
  std::string cut = file_of("{}", 0);
  cut[0] = 3;
  EXPECT_THAT(fault_of(cut).what(), HasSubstr("length=3, expected at most 2"));
  EXPECT_THAT(fault_of(std::string(16, '\xFF')).what(), HasSubstr("length=18446744073709551615"));
  // A gibibyte of header is refused before it is looked for.
  EXPECT_THAT(fault_of(std::string("\1\xe1\xf5\5\0\0\0\0{}", 10)).what(),
              HasSubstr("length=100000001, expected at most 100000000"));
}

TEST(SafetensorsReader, RefusesAHeaderThatIsNoBareObject) {
  for (const char* json : {"[]", "1", " {}", "{}\n", "{}\t", "      ", "null"}) {
    EXPECT_EQ(fault_of(file_of(json, 0)).offset(), 8) << json;
  }
  EXPECT_EQ(fault_of(file_of("{}{}", 0)).offset(), 10);
  EXPECT_EQ(fault_of(file_of("{\"\xFF\":1}", 0)).offset(), 10);
  EXPECT_THAT(fault_of(file_of("{\"a\":}", 0)).what(), HasSubstr("[json.parse]"));
}

TEST(SafetensorsReader, RefusesDuplicateNames) {
  const std::string one = R"("w":{"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
  EXPECT_NO_THROW(parse(file_of("{" + one + "}", 0)));
  const BadFile error = fault_of(file_of("{" + one + "," + one + "}", 0));
  EXPECT_THAT(error.what(), HasSubstr("duplicate key"));
  EXPECT_EQ(error.offset(), 8 + 1 + static_cast<int64_t>(one.size()) + 1);
  EXPECT_THAT(
      fault_of_tensor(R"("dtype":"U8","dtype":"U8","shape":[8],"data_offsets":[0,8])").what(),
      HasSubstr("duplicate key"));
  fault_of(file_of(R"({"__metadata__":{"a":"1","a":"2"}})", 0));
}

TEST(SafetensorsReader, RefusesOtherKeysAndKinds) {
  const BadFile extra =
      fault_of_tensor(R"("dtype":"U8","shape":[8],"data_offsets":[0,8],"stride":[1])");
  EXPECT_THAT(extra.what(), HasSubstr("tensor=\"w\", key=\"stride\""));
  EXPECT_EQ(extra.offset(), 8 + 52);
  EXPECT_THAT(fault_of_tensor(R"("shape":[8],"data_offsets":[0,8])").what(),
              HasSubstr("missing key"));
  EXPECT_THAT(fault_of_tensor(R"("dtype":"U8","data_offsets":[0,8])").what(),
              HasSubstr("key=shape"));
  EXPECT_THAT(fault_of_tensor(R"("dtype":"U8","shape":[8])").what(), HasSubstr("key=data_offsets"));
  EXPECT_THAT(fault_of_tensor(R"("dtype":"F31","shape":[8],"data_offsets":[0,8])").what(),
              HasSubstr("dtype=\"F31\""));
  for (const char* fields : {R"("dtype":3,"shape":[8],"data_offsets":[0,8])",
                             R"("dtype":"U8","shape":8,"data_offsets":[0,8])",
                             R"("dtype":"U8","shape":{},"data_offsets":[0,8])",
                             R"("dtype":"U8","shape":[[8]],"data_offsets":[0,8])",
                             R"("dtype":["U8"],"shape":[8],"data_offsets":[0,8])",
                             R"("dtype":"U8","shape":[8],"data_offsets":null)"}) {
    EXPECT_THAT(fault_of_tensor(fields).what(), HasSubstr("unexpected value")) << fields;
  }
  fault_of(file_of(R"({"w":[]})", 0));
  fault_of(file_of(R"({"w":null})", 0));
}

TEST(SafetensorsReader, TakesNoFieldFromTheTensorBefore) {
  const std::string first = R"({"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"b":{)";
  for (const char* fields :
       {R"("shape":[0],"data_offsets":[0,0])", R"("dtype":"U8","data_offsets":[0,0])",
        R"("dtype":"U8","shape":[0])"}) {
    const BadFile error = fault_of(file_of(first + fields + "}}", 0));
    EXPECT_THAT(error.what(), HasSubstr("missing key")) << fields;
    EXPECT_THAT(error.what(), HasSubstr("tensor=\"b\"")) << fields;
  }
}

TEST(SafetensorsReader, RefusesMetadataThatIsNotStrings) {
  for (const char* json :
       {R"({"__metadata__":null})", R"({"__metadata__":[]})", R"({"__metadata__":{"a":1}})",
        R"({"__metadata__":{"a":{}}})", R"({"__metadata__":{"a":null}})"}) {
    EXPECT_THAT(fault_of(file_of(json, 0)).what(), HasSubstr("tensor=\"__metadata__\"")) << json;
  }
}

TEST(SafetensorsReader, RefusesDimensionsThatAreNoSizes) {
  for (const char* dimension :
       {"-8", "-0", "8.0", "8e0", "9223372036854775808", "\"8\"", "null", "true"}) {
    const BadFile error =
        fault_of_tensor(fill(R"("dtype":"U8","shape":[{}],"data_offsets":[0,8])", dimension));
    EXPECT_THAT(error.what(), HasSubstr("not a size")) << dimension;
    EXPECT_EQ(error.offset(), 8 + 28) << dimension;
  }
  std::string ones = "8";
  for (int i = 0; i < 63; ++i) {
    ones += ",1";
  }
  const std::string rest = R"(],"data_offsets":[0,8])";
  EXPECT_NO_THROW(parse(file_of(R"({"w":{"dtype":"U8","shape":[)" + ones + rest + "}}", 8)));
  EXPECT_THAT(fault_of_tensor(R"("dtype":"U8","shape":[)" + ones + ",1" + rest).what(),
              HasSubstr("expected at most 64"));
}

TEST(SafetensorsReader, RefusesSizesThatOverflow) {
  // 2^32 x 2^32 is 0 in 64 bits, 2^61 eight-byte elements too.
  for (const char* fields :
       {R"("dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,0])",
        R"("dtype":"U8","shape":[4294967296,4294967296,0],"data_offsets":[0,0])",
        R"("dtype":"F64","shape":[2305843009213693952],"data_offsets":[0,0])"}) {
    const BadFile error = fault_of_tensor(fields);
    EXPECT_THAT(error.what(), HasSubstr("shape is too large")) << fields;
    EXPECT_EQ(error.offset(), 9) << fields;
  }
}

TEST(SafetensorsReader, RefusesRangesThatDoNotFit) {
  const auto fault = [](std::string_view range) {
    return fault_of_tensor(fill(R"("dtype":"U8","shape":[8],"data_offsets":{})", range));
  };
  EXPECT_THAT(fault("[8,0]").what(), HasSubstr("no range"));
  EXPECT_THAT(fault("[0]").what(), HasSubstr("no range"));
  EXPECT_THAT(fault("[]").what(), HasSubstr("no range"));
  EXPECT_THAT(fault("[0,8,8]").what(), HasSubstr("expected at most 2"));
  EXPECT_THAT(fault("[0,9]").what(), HasSubstr("past the end of the file"));
  EXPECT_THAT(fault("[0,9223372036854775807]").what(), HasSubstr("past the end of the file"));
  EXPECT_THAT(fault("[-1,7]").what(), HasSubstr("not a size"));
  EXPECT_THAT(fault("[0,7]").what(), HasSubstr("expected 8 bytes"));
  EXPECT_EQ(fault("[0,7]").offset(), 9);
}

TEST(SafetensorsReader, RefusesOverlapsAndHoles) {
  const auto two = [](std::string_view first, std::string_view second) {
    const std::string json = fill(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":{}},)"
                                  R"("b":{"dtype":"U8","shape":[4],"data_offsets":{}}})",
                                  first, second);
    return file_of(json, 8);
  };
  EXPECT_NO_THROW(parse(two("[4,8]", "[0,4]")));
  const BadFile overlap = fault_of(two("[0,4]", "[2,6]"));
  EXPECT_THAT(overlap.what(), HasSubstr("tensors overlap"));
  EXPECT_THAT(overlap.what(), HasSubstr("tensor=\"b\", data_offsets=[2, 6], expected begin=4"));
  EXPECT_THAT(fault_of(two("[0,4]", "[0,4]")).what(), HasSubstr("tensors overlap"));
  EXPECT_THAT(fault_of(two("[0,4]", "[5,9]")).what(), HasSubstr("past the end of the file"));

  const auto one = [](std::string_view range, size_t data) {
    return file_of(fill(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":{}}})", range), data);
  };
  EXPECT_THAT(fault_of(one("[1,5]", 5)).what(), HasSubstr("belong to no tensor"));
  const BadFile tail = fault_of(one("[0,4]", 5));
  EXPECT_THAT(tail.what(), HasSubstr("bytes at the end belong to no tensor"));
  EXPECT_EQ(tail.offset(), static_cast<int64_t>(one("[0,4]", 4).size()));
  EXPECT_THAT(fault_of(file_of("{}", 1)).what(), HasSubstr("at the end"));
  // An empty tensor inside another one is an overlap too.
  fault_of(file_of(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},)"
                   R"("e":{"dtype":"U8","shape":[0],"data_offsets":[2,2]}})",
                   4));
}

TEST(SafetensorsReader, QuotesUntrustedNames) {
  const std::string name(5000, 'n');
  const BadFile error = fault_of(file_of("{\"" + name + "\":{}}", 0));
  EXPECT_LT(std::string(error.what()).size(), 400U);
}

TEST(SafetensorsReader, RefusesEveryCutAndEveryTail) {
  const std::string whole = file_of(
      R"({"a":{"dtype":"I16","shape":[2],"data_offsets":[0,4]},"s":{"dtype":"U8","shape":[],)"
      R"("data_offsets":[4,5]}})",
      5);
  EXPECT_NO_THROW(parse(whole));
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THROW(parse(whole.substr(0, size)), BadFile) << size;
  }
  EXPECT_THROW(parse(whole + " "), BadFile);
}

}  // namespace
}  // namespace libtrain::format
