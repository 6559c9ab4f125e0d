#include "libtrain/cli/output.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <system_error>

#include "libtrain/core/error.hpp"
#include "libtrain/core/text.hpp"

namespace libtrain {

void write_output(std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!written || std::fflush(stdout) != 0) {
    const std::string why = std::generic_category().message(errno);
    throw BadFile(fill("[cli.write] cannot write to standard output: {}", why), "stdout", -1,
                  FileFault::kOutput);
  }
}

int output_width() {
  constexpr int kWithoutTerminal = 100;
  constexpr int kNarrowest = 60;
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) {
    return kWithoutTerminal;
  }
  return std::max<int>(size.ws_col, kNarrowest);
}

}  // namespace libtrain
