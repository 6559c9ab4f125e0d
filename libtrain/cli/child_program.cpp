#include "libtrain/cli/child_program.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "libtrain/core/require.hpp"
#include "libtrain/core/text.hpp"

namespace libtrain {
namespace {

std::vector<std::string> environment_with(
    const std::vector<std::pair<std::string, std::string>>& variables) {
  std::vector<std::string> entries(variables.size());
  std::ranges::transform(variables, entries.begin(), [](const auto& variable) {
    return fill("{}={}", variable.first, variable.second);
  });
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    entries.emplace_back(*entry);  // after the others: getenv finds the first
  }
  return entries;
}

std::string read_all(int from) {
  std::string out;
  std::array<char, 4096> buffer{};
  for (;;) {
    const ssize_t count = ::read(from, buffer.data(), buffer.size());
    if (count > 0) {
      out.append(buffer.data(), static_cast<size_t>(count));
    } else if (count == 0 || errno != EINTR) {
      return out;
    }
  }
}

int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

ChildResult run_child(const std::string& path,
                      const std::vector<std::pair<std::string, std::string>>& variables) {
  std::array<int, 2> ends{};
  require<Error>(::pipe2(ends.data(), O_CLOEXEC) == 0, "[cli.run] no pipe to a child process: {}",
                 std::generic_category().message(errno));
  std::vector<std::string> entries = environment_with(variables);
  std::vector<char*> environment(entries.size() + 1, nullptr);
  std::ranges::transform(entries, environment.begin(),
                         [](std::string& entry) { return entry.data(); });
  std::string program = path;
  std::array<char*, 2> arguments{program.data(), nullptr};

  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  pid_t child = 0;
  const int failure =
      ::posix_spawn(&child, path.c_str(), &actions, nullptr, arguments.data(), environment.data());
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  ChildResult result;
  if (failure == 0) {
    result.output = read_all(ends[0]);
    result.exit_code = wait_for(child);
  }
  ::close(ends[0]);
  require<Error>(failure == 0, "[cli.run] cannot start a program: path={}, {}", quote(path, 400),
                 std::generic_category().message(failure));
  return result;
}

std::string sibling_program(const std::string& name) {
  std::error_code error;
  const std::filesystem::path path =
      std::filesystem::read_symlink("/proc/self/exe", error).replace_filename(name);
  require<Unsupported>(!error && std::filesystem::exists(path, error),
                       "[cli.run] a program is missing: path={}, expected beside this one; it is "
                       "part of a build with LibTorch",
                       quote(path.string(), 400));
  return path.string();
}

}  // namespace libtrain
