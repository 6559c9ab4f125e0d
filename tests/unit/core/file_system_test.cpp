#include "libtrain/core/file_system.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <stdexcept>

#include "libtrain/core/error.hpp"

namespace libtrain {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class FileSystem : public testing::Test {
 protected:
  FileSystem() : folder_(fs::path(testing::TempDir()) / "libtrain_file_system") {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~FileSystem() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  size_t entries() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), {}));
  }

  fs::path folder_;
};

TEST_F(FileSystem, WritesAndReadsBack) {
  write_file_atomically(path("a"), "hello");
  EXPECT_EQ(read_file(path("a")), "hello");
  const MappedFile mapped(path("a"));
  EXPECT_EQ(mapped.bytes().size(), 5U);
  write_file_atomically(path("empty"), "");
  EXPECT_TRUE(MappedFile(path("empty")).bytes().empty());
}

TEST_F(FileSystem, AFailedWriteLeavesTheOldFileAndNoOther) {
  write_file_atomically(path("a"), "old");
  EXPECT_THROW(write_file_atomically(path("a"),
                                     [](const ByteSink& sink) {
                                       sink(std::as_bytes(std::span("new", 3)));
                                       throw std::runtime_error("interrupted");
                                     }),
               std::runtime_error);
  EXPECT_EQ(read_file(path("a")), "old");
  EXPECT_EQ(entries(), 1U);
}

TEST_F(FileSystem, AWriteBesideAnotherOfTheSamePathLeavesItWhole) {
  write_file_atomically(path("a"), [&](const ByteSink& sink) {
    sink(std::as_bytes(std::span("first ", 6)));
    write_file_atomically(path("a"), "other");
    EXPECT_EQ(read_file(path("a")), "other");
    sink(std::as_bytes(std::span("second", 6)));
  });
  EXPECT_EQ(read_file(path("a")), "first second");
  EXPECT_EQ(entries(), 1U);
}

TEST_F(FileSystem, AWriteLeavesLinksAndPermissions) {
  write_file_atomically(path("a"), "old");
  fs::permissions(path("a"), fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("a", path("link"));
  write_file_atomically(path("link"), "new");
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(read_file(path("a")), "new");
  EXPECT_EQ(fs::status(path("a")).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(FileSystem, AWriteNeverPutsAFileInThePlaceOfSomethingElse) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  fs::create_symlink("pipe", path("link"));
  for (const char* name : {"pipe", "link", ""}) {
    EXPECT_THROW(write_file_atomically(path(name), "x"), BadFile) << name;
  }
  EXPECT_TRUE(fs::is_fifo(path("pipe")));
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(entries(), 2U);
}

TEST_F(FileSystem, NamesWhatIsWrong) {
  try {
    read_file(path("missing"));
    FAIL() << "no error";
  } catch (const BadFile& error) {
    EXPECT_EQ(error.fault(), FileFault::kInput);
    EXPECT_THAT(error.what(), HasSubstr("No such file"));
    EXPECT_THAT(error.what(), HasSubstr("missing"));
  }
  EXPECT_THROW(read_file(folder_.string()), BadFile);
  EXPECT_THROW(MappedFile{folder_.string()}, BadFile);
  EXPECT_THROW(write_file_atomically(path("no/such/folder"), "x"), BadFile);
}

TEST_F(FileSystem, RefusesAFileOverTheLimit) {
  write_file_atomically(path("big"), std::string(100, 'x'));
  EXPECT_THROW(read_file(path("big"), 99), BadFile);
  EXPECT_EQ(read_file(path("big"), 100).size(), 100U);
}

TEST_F(FileSystem, MakesAWritableDirectoryOrSaysWhyNot) {
  make_writable_directory(path("x/y"));
  EXPECT_TRUE(fs::is_directory(path("x/y")));
  write_file_atomically(path("file"), "");
  EXPECT_THROW(make_writable_directory(path("file")), BadFile);
}

}  // namespace
}  // namespace libtrain
