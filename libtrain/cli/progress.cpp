#include "libtrain/cli/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace libtrain {
namespace {

constexpr int kBarWidth = 30;
constexpr std::chrono::milliseconds kRedraw{100};
constexpr std::chrono::seconds kPlainLine{10};

std::string clock_text(double seconds) {
  const int64_t whole = std::llround(seconds);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

}  // namespace

Progress::Progress(std::string title, int64_t total, std::FILE* out)
    : title_(std::move(title)), total_(total), out_(out), terminal_(::isatty(::fileno(out)) == 1) {}

Progress::~Progress() {
  if (terminal_ && shown_ != Clock::time_point{}) {
    std::fputc('\n', out_);
  }
}

void Progress::show(int64_t done, const std::string& values) {
  const auto now = Clock::now();
  const bool is_last = done >= total_;
  const auto pause = terminal_ ? Clock::duration(kRedraw) : Clock::duration(kPlainLine);
  if (!is_last && now - shown_ < pause) {
    return;
  }
  shown_ = now;
  const double share =
      static_cast<double>(done) / static_cast<double>(std::max<int64_t>(total_, 1));
  const double elapsed = std::chrono::duration<double>(now - start_).count();
  const double left = done > 0 ? elapsed / share - elapsed : 0.0;
  const std::string counts = fmt::format("{}/{}  {}  {} elapsed, {} left", done, total_, values,
                                         clock_text(elapsed), clock_text(left));
  if (terminal_) {
    const int filled = static_cast<int>(share * kBarWidth);
    fmt::print(out_, "\r\x1b[K{} [{:#<{}}{:.<{}}] {}", title_, "", filled, "", kBarWidth - filled,
               counts);
  } else {
    fmt::print(out_, "{} {:3.0f} %  {}\n", title_, share * 100.0, counts);
  }
  std::fflush(out_);
}

}  // namespace libtrain
