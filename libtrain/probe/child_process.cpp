#include "libtrain/probe/child_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "libtrain/core/text.hpp"

namespace libtrain {
namespace {

/// A message is its length, then its bytes.
using Length = uint32_t;
constexpr Length kLongest = Length{1} << 24U;

void write_all(int pipe, const char* bytes, size_t count) {
  while (count > 0) {
    const ssize_t done = ::write(pipe, bytes, count);
    if (done < 0 && errno != EINTR) {
      return;  // the parent listens no more
    }
    bytes += std::max<ssize_t>(done, 0);
    count -= static_cast<size_t>(std::max<ssize_t>(done, 0));
  }
}

void send(int pipe, std::string_view message) {
  const auto length = static_cast<Length>(message.size());
  write_all(pipe, reinterpret_cast<const char*>(&length), sizeof(length));
  write_all(pipe, message.data(), message.size());
}

}  // namespace

ChildProcess::ChildProcess(const std::function<void(const Tell& tell)>& run) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    silence_ = fill("was not started: {}", std::strerror(errno));
    return;
  }
  child_ = ::fork();
  if (child_ == 0) {
    ::close(ends[0]);
    run([&](std::string_view message) { send(ends[1], message); });
    ::_exit(0);
  }
  if (child_ < 0) {
    silence_ = fill("was not started: {}", std::strerror(errno));
  }
  ::close(ends[1]);
  pipe_ = ends[0];
}

ChildProcess::~ChildProcess() {
  if (pipe_ >= 0) {
    ::close(pipe_);
  }
  if (child_ <= 0 || ::waitpid(child_, nullptr, WNOHANG) != 0) {
    return;
  }
  ::kill(child_, SIGKILL);
  constexpr int kTries = 20;
  for (int i = 0; i < kTries && ::waitpid(child_, nullptr, WNOHANG) == 0; ++i) {
    ::usleep(1000);
  }
}

std::optional<std::string> ChildProcess::next(std::chrono::milliseconds limit) {
  if (!silence_.empty()) {
    return std::nullopt;
  }
  const auto until = std::chrono::steady_clock::now() + limit;
  Length length = 0;
  std::string message;
  bool whole = receive(reinterpret_cast<char*>(&length), sizeof(length), until);
  if (whole && length <= kLongest) {
    message.resize(length);
    whole = receive(message.data(), message.size(), until);
  }
  if (!whole || message.size() != length) {
    timed_out_ = std::chrono::steady_clock::now() >= until;
    silence_ = timed_out_
                   ? fill("did not answer within {} s", static_cast<double>(limit.count()) / 1000)
                   : "ended early";
    return std::nullopt;
  }
  return message;
}

/// False at the end of the pipe or of the time.
bool ChildProcess::receive(char* to, size_t bytes, std::chrono::steady_clock::time_point until) {
  while (bytes > 0) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    struct pollfd wait {
      .fd = pipe_, .events = POLLIN, .revents = 0
    };
    const int ready = left.count() > 0 ? ::poll(&wait, 1, static_cast<int>(left.count())) : 0;
    if (ready < 0 && errno == EINTR) {
      continue;
    }
    if (ready <= 0) {
      return false;
    }
    const ssize_t done = ::read(pipe_, to, bytes);
    if (done == 0 || (done < 0 && errno != EINTR)) {
      return false;
    }
    to += std::max<ssize_t>(done, 0);
    bytes -= static_cast<size_t>(std::max<ssize_t>(done, 0));
  }
  return true;
}

}  // namespace libtrain
