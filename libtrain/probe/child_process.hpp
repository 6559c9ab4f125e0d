#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "libtrain/core/api.hpp"

namespace libtrain {

/// A forked copy of this process that asks a driver in its place. A driver that hangs or crashes,
/// or that keeps a state in the process that asks it, then harms the copy alone.
class LT_API ChildProcess {
 public:
  /// Sends one message to the parent.
  using Tell = std::function<void(std::string_view message)>;

  /// Forks; the child calls `run` and ends.
  explicit ChildProcess(const std::function<void(const Tell& tell)>& run);
  /// Ends the child. One that is stuck inside the kernel cannot be ended, and is not waited for.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ChildProcess(ChildProcess&&) = delete;
  ChildProcess& operator=(ChildProcess&&) = delete;

  /// The child's next message; nothing when it says no more, or not within `limit`: see silence().
  std::optional<std::string> next(std::chrono::milliseconds limit);
  /// Why next() gave nothing: "ended early", "did not answer within 0.9 s".
  const std::string& silence() const { return silence_; }
  bool timed_out() const { return timed_out_; }

 private:
  bool receive(char* to, size_t bytes, std::chrono::steady_clock::time_point until);

  pid_t child_ = -1;
  int pipe_ = -1;
  std::string silence_;
  bool timed_out_ = false;
};

}  // namespace libtrain
