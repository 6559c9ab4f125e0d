#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "libtrain/core/error.hpp"
#include "libtrain/core/file_system.hpp"
#include "libtrain/format/safetensors.hpp"

namespace libtrain::format {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// tests/data/make_safetensors.py writes it with the safetensors package 0.8.0.
constexpr const char* kGolden = LIBTRAIN_TEST_DATA "/data/safetensors/every_dtype.safetensors";

class SafetensorsWriter : public testing::Test {
 protected:
  SafetensorsWriter()
      : folder_(fs::path(testing::TempDir()) /
                ("libtrain_safetensors." + std::to_string(getpid()))) {
    fs::create_directories(folder_);
  }
  ~SafetensorsWriter() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  size_t entries() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), {}));
  }

  fs::path folder_;
};

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

/// One byte tensor of this name and contents.
std::map<std::string, TensorEntry> one(const std::string& name, std::string_view contents) {
  return {{name,
           {.dtype = DType::kU8,
            .shape = {static_cast<int64_t>(contents.size())},
            .bytes = bytes_of(contents)}}};
}

std::string message_of(const std::map<std::string, TensorEntry>& tensors,
                       const std::map<std::string, std::string>& metadata = {}) {
  try {
    format_safetensors_header(tensors, metadata);
  } catch (const InvalidOption& error) {
    return error.what();
  }
  return "no error";
}

TEST_F(SafetensorsWriter, WritesWhatThePackageWrites) {
  const SafetensorsFile golden(kGolden);
  EXPECT_EQ(golden.tensors().size(), 26U);  // of them one of each of the 19 types
  write_safetensors(path("ours"), golden.tensors(), golden.metadata());
  EXPECT_EQ(read_file(path("ours")), read_file(kGolden));
}

TEST_F(SafetensorsWriter, ReadsBackWhatItWrote) {
  auto tensors = one("w", "abcdef");
  tensors.emplace("scalar",
                  TensorEntry{.dtype = DType::kI16, .shape = {}, .bytes = bytes_of("xy")});
  tensors.emplace("", TensorEntry{.dtype = DType::kF64, .shape = {0, 7}, .bytes = {}});
  const std::map<std::string, std::string> metadata = {{"a", "1"}, {"b", ""}, {"", "\n\"\\"}};
  write_safetensors(path("a"), tensors, metadata);

  const SafetensorsFile file(path("a"));
  EXPECT_EQ(file.path(), path("a"));
  EXPECT_EQ(file.metadata(), metadata);
  ASSERT_EQ(file.tensors().size(), tensors.size());
  for (const auto& [name, tensor] : tensors) {
    const TensorEntry& read = file.tensors().at(name);
    EXPECT_EQ(read.dtype, tensor.dtype);
    EXPECT_EQ(read.shape, tensor.shape);
    EXPECT_TRUE(std::ranges::equal(read.bytes, tensor.bytes));
  }
}

TEST_F(SafetensorsWriter, WritesNothingForNoTensors) {
  write_safetensors(path("a"), {}, {});
  EXPECT_EQ(read_file(path("a")), std::string("\x08\0\0\0\0\0\0\0{}      ", 16));
}

TEST_F(SafetensorsWriter, RefusesWhatItCouldNotReadBack) {
  EXPECT_THAT(message_of(one("__metadata__", "x")), HasSubstr("name=\"__metadata__\""));
  EXPECT_THAT(message_of(one("\xFF", "x")), HasSubstr("name=\"\\xff\""));
  EXPECT_THAT(message_of(one("w", "x"), {{"k", "\xC0"}}), HasSubstr("metadata is not UTF-8"));
  EXPECT_THAT(message_of(one("w", "x"), {{"\xC0", "v"}}), HasSubstr("metadata is not UTF-8"));
  auto tensors = one("w", "abc");
  tensors.at("w").dtype = DType::kF32;
  EXPECT_THAT(message_of(tensors), HasSubstr("tensor=\"w\", bytes=3, expected 12"));
  tensors.at("w").shape = {-1};
  EXPECT_THAT(message_of(tensors), HasSubstr("bytes do not fit the shape"));
  tensors.at("w").shape = {int64_t{1} << 32, int64_t{1} << 32};
  EXPECT_THAT(message_of(tensors), HasSubstr("expected a shape below 2^63 bytes"));
  tensors.at("w") = {
      .dtype = DType::kU8, .shape = std::vector<int64_t>(65, 1), .bytes = bytes_of("x")};
  EXPECT_THAT(message_of(tensors), HasSubstr("dimensions=65, expected at most 64"));
  EXPECT_THAT(message_of({}, {{"k", std::string(100'000'000, 'v')}}),
              HasSubstr("header is too long"));
}

TEST_F(SafetensorsWriter, AFailedCheckLeavesTheOldFile) {
  write_safetensors(path("a"), one("w", "old"), {});
  const std::string before = read_file(path("a"));
  EXPECT_THROW(write_safetensors(path("a"), one("__metadata__", "new"), {}), InvalidOption);
  EXPECT_EQ(read_file(path("a")), before);
  EXPECT_EQ(entries(), 1U);
}

TEST_F(SafetensorsWriter, AFullDiskLeavesTheOldFile) {
  write_safetensors(path("a"), one("w", "old"), {});
  const std::string before = read_file(path("a"));
  // A limit on the size of files makes write(2) fail part-way like a full disk.
  rlimit old_limit{};
  getrlimit(RLIMIT_FSIZE, &old_limit);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{.rlim_cur = 1000, .rlim_max = old_limit.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  const std::string large(5000, 'n');
  EXPECT_THROW(
      {
        try {
          write_safetensors(path("a"), one("w", large), {});
        } catch (const BadFile& error) {
          EXPECT_EQ(error.fault(), FileFault::kOutput);
          EXPECT_THAT(error.what(), HasSubstr(path("a")));
          throw;
        }
      },
      BadFile);
  setrlimit(RLIMIT_FSIZE, &old_limit);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_EQ(read_file(path("a")), before);
  EXPECT_EQ(entries(), 1U);
}

TEST_F(SafetensorsWriter, AnUnwritablePathIsNamed) {
  try {
    write_safetensors(path("missing/a"), one("w", "x"), {});
    FAIL() << "no error";
  } catch (const BadFile& error) {
    EXPECT_EQ(error.fault(), FileFault::kOutput);
    EXPECT_THAT(error.what(), HasSubstr(path("missing/a")));
  }
  EXPECT_THROW(write_safetensors(folder_.string(), one("w", "x"), {}), BadFile);
  EXPECT_EQ(entries(), 0U);
}

TEST_F(SafetensorsWriter, AFileThatIsOpenKeepsItsContents) {
  write_safetensors(path("a"), one("w", "old"), {});
  const SafetensorsFile open(path("a"));
  write_safetensors(path("a"), one("w", "new"), {});
  EXPECT_EQ(static_cast<char>(open.tensors().at("w").bytes[0]), 'o');
  EXPECT_EQ(static_cast<char>(SafetensorsFile(path("a")).tensors().at("w").bytes[0]), 'n');
}

TEST(SafetensorsDType, ReadsBackItsText) {
  for (int i = 0; i <= static_cast<int>(DType::kU64); ++i) {
    const auto dtype = static_cast<DType>(i);
    EXPECT_EQ(parse_dtype(to_text(dtype)), dtype);
  }
  EXPECT_EQ(to_text(DType::kBF16), "BF16");
  EXPECT_EQ(parse_dtype("f32"), std::nullopt);
  EXPECT_EQ(parse_dtype("F4"), std::nullopt);
}

}  // namespace
}  // namespace libtrain::format
