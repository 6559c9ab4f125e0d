#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

#include "libtrain/core/api.hpp"

namespace libtrain {

/// A progress bar on a terminal, redrawn in place; elsewhere a plain line every ten seconds.
class LT_API Progress {
 public:
  Progress(std::string title, int64_t total, std::FILE* out);
  /// Ends the line that is being redrawn.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  Progress(Progress&&) = delete;
  Progress& operator=(Progress&&) = delete;

  /// `done` of `total` are over; `values` is what else to show ("loss 1.23").
  void show(int64_t done, const std::string& values);

 private:
  using Clock = std::chrono::steady_clock;

  std::string title_;
  int64_t total_;
  std::FILE* out_;
  bool terminal_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point shown_;
};

}  // namespace libtrain
