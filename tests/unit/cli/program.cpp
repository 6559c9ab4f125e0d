#include "tests/unit/cli/program.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "libtrain/core/file_system.hpp"
#include "libtrain/core/text.hpp"

namespace libtrain {

ProgramResult run_program(const std::string& program, const std::string& arguments,
                          const std::string& environment) {
  namespace fs = std::filesystem;
  const fs::path folder =
      fs::temp_directory_path() / fill("fasttrain-test-{}", static_cast<int64_t>(getpid()));
  fs::create_directory(folder);
  const std::string output = folder / "output";
  const std::string errors = folder / "errors";
  // A redirection in `arguments` comes later and wins.
  const std::string command =
      fill("env -u FASTTRAIN_REQUIRE_GPU -u FASTTRAIN_ISA {} '{}' > '{}' 2> '{}' {}", environment,
           program, output, errors, arguments);
  const int status = std::system(command.c_str());
  ProgramResult result{.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
                       .output = read_file(output),
                       .errors = read_file(errors)};
  fs::remove_all(folder);
  return result;
}

ProgramResult run_fasttrain(const std::string& arguments, const std::string& environment) {
  return run_program(FASTTRAIN_PROGRAM, arguments, "FASTTRAIN_MEASURED=off " + environment);
}

}  // namespace libtrain
