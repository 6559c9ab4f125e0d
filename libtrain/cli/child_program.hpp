#pragma once

#include <string>
#include <utility>
#include <vector>

namespace libtrain {

struct ChildResult {
  int exit_code = 0;   ///< 128 + the signal that ended it
  std::string output;  ///< standard output and standard error, in order
};

/// Runs a program to its end, with `variables` set over this process's environment. Throws Error
/// when it cannot be started.
ChildResult run_child(const std::string& path,
                      const std::vector<std::pair<std::string, std::string>>& variables);

/// Path of the program `name` beside the running one. Throws Unsupported where there is none.
std::string sibling_program(const std::string& name);

}  // namespace libtrain
