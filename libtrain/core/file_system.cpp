#include "libtrain/core/file_system.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <random>
#include <system_error>
#include <utility>

#include "libtrain/core/error.hpp"
#include "libtrain/core/text.hpp"

namespace libtrain {
namespace {

[[noreturn]] void fail(std::string_view verb, const std::string& path, FileFault fault, int code) {
  const bool full = code == ENOSPC || code == EDQUOT;
  throw BadFile(
      fill("[file.{}] {}: path={}; {}", verb, std::generic_category().message(code),
           quote(path, 400),
           full                          ? "free space on that file system and run again"
           : fault == FileFault::kOutput ? "check that the directory exists and is writable"
                                         : "check the path and its permissions"),
      path, -1, fault);
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) {
      ::close(fd_);
    }
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  Descriptor(Descriptor&&) = delete;
  Descriptor& operator=(Descriptor&&) = delete;

  int get() const { return fd_; }
  /// Closes now, so that errors the kernel kept for close() are seen.
  int close() { return ::close(std::exchange(fd_, -1)); }

 private:
  int fd_;
};

struct stat status_of(const Descriptor& file, const std::string& path) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) {
    fail("read", path, FileFault::kInput, errno);
  }
  if (S_ISDIR(status.st_mode)) {
    fail("read", path, FileFault::kInput, EISDIR);
  }
  return status;
}

void write_all(int fd, std::span<const std::byte> bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t done = ::write(fd, bytes.data(), bytes.size());
    if (done < 0) {
      if (errno == EINTR) {
        continue;
      }
      fail("write", path, FileFault::kOutput, errno);
    }
    bytes = bytes.subspan(static_cast<size_t>(done));
  }
}

/// Removes the temporary file unless it was renamed into place.
class TemporaryName {
 public:
  explicit TemporaryName(std::string name) : name_(std::move(name)) {}
  ~TemporaryName() {
    if (!name_.empty()) {
      ::unlink(name_.c_str());
    }
  }
  TemporaryName(const TemporaryName&) = delete;
  TemporaryName& operator=(const TemporaryName&) = delete;
  TemporaryName(TemporaryName&&) = delete;
  TemporaryName& operator=(TemporaryName&&) = delete;

  void keep() { name_.clear(); }

 private:
  std::string name_;
};

std::string parent_of(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

struct Destination {
  std::string path;            ///< links followed
  std::optional<mode_t> mode;  ///< permissions of the file that is there
};

/// Throws where something else than a file is there: a rename would put a file in its place.
Destination destination_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    return {path, std::nullopt};
  }
  if (S_ISDIR(status.st_mode)) {
    fail("write", path, FileFault::kOutput, EISDIR);
  }
  if (!S_ISREG(status.st_mode)) {
    throw BadFile(fill("[file.write] this is a device, pipe or socket: path={}, expected a file or "
                       "nothing there; give another path",
                       quote(path, 400)),
                  path, -1, FileFault::kOutput);
  }
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(path, error);
  if (error) {
    fail("write", path, FileFault::kOutput, error.value());
  }
  return {real.string(), status.st_mode & 0777};
}

/// A name that no other writer of `path` takes: not another thread, nor another process, which on
/// a shared file system may have the same id.
std::string temporary_beside(const std::string& path) {
  std::random_device random;
  return fill("{}.tmp.{}", path, (uint64_t{random()} << 32U) | random());
}

}  // namespace

std::string read_file(const std::string& path, int64_t limit_bytes) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) {
    fail("read", path, FileFault::kInput, errno);
  }
  const struct stat status = status_of(file, path);
  std::string contents;
  contents.reserve(static_cast<size_t>(std::max<off_t>(status.st_size, 0)));
  std::string buffer(1 << 16, '\0');  // files under /proc and /sys have no size: read to the end
  for (;;) {
    const ssize_t done = ::read(file.get(), buffer.data(), buffer.size());
    if (done < 0) {
      if (errno == EINTR) {
        continue;
      }
      fail("read", path, FileFault::kInput, errno);
    }
    if (done == 0) {
      return contents;
    }
    contents.append(buffer, 0, static_cast<size_t>(done));
    if (static_cast<int64_t>(contents.size()) > limit_bytes) {
      throw BadFile(fill("[file.read] file is too large: path={}, expected at most {}; check that "
                         "this is the intended file",
                         quote(path, 400), format_bytes(limit_bytes)),
                    path, limit_bytes, FileFault::kContent);
    }
  }
}

void write_file_atomically(const std::string& path,
                           const std::function<void(const ByteSink&)>& write) {
  const Destination destination = destination_of(path);
  const std::string temporary = temporary_beside(destination.path);
  Descriptor file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (file.get() < 0) {
    fail("write", path, FileFault::kOutput, errno);
  }
  TemporaryName name(temporary);
  if (destination.mode) {
    ::fchmod(file.get(), *destination.mode);
  }
  write([&](std::span<const std::byte> bytes) { write_all(file.get(), bytes, path); });
  if (::fsync(file.get()) != 0 || file.close() != 0 ||
      ::rename(temporary.c_str(), destination.path.c_str()) != 0) {
    fail("write", path, FileFault::kOutput, errno);
  }
  name.keep();
  const Descriptor directory(
      ::open(parent_of(destination.path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.get() >= 0) {
    ::fsync(directory.get());
  }
}

void write_file_atomically(const std::string& path, std::string_view contents) {
  write_file_atomically(path, [&](const ByteSink& sink) {
    sink(std::as_bytes(std::span(contents.data(), contents.size())));
  });
}

void make_writable_directory(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) {
    fail("write", path, FileFault::kOutput, error.value());
  }
  const std::string probe = fill("{}/.write-test.{}", path, static_cast<int64_t>(::getpid()));
  const Descriptor file(::open(probe.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
  if (file.get() < 0) {
    fail("write", path, FileFault::kOutput, errno);
  }
  ::unlink(probe.c_str());
}

MappedFile::MappedFile(const std::string& path) : path_(path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) {
    fail("read", path, FileFault::kInput, errno);
  }
  const auto size = static_cast<size_t>(status_of(file, path).st_size);
  if (size == 0) {
    return;  // mmap refuses empty files; an empty view is the truth
  }
  void* start = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (start == MAP_FAILED) {
    fail("read", path, FileFault::kInput, errno);
  }
  bytes_ = {static_cast<const std::byte*>(start), size};
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) {
    ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());  // NOLINT(*-const-cast)
  }
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)), bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

}  // namespace libtrain
