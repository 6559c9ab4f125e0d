#pragma once

#include <string>
#include <vector>

namespace libtrain {

struct ProgramResult {
  int exit_code = -1;
  std::string output;  ///< standard output
  std::string errors;  ///< standard error
};

/// Runs a fasttrain tool in a shell: `arguments` may redirect and set no variables of its own,
/// `environment` is "NAME=value ..." before the command. Variables of this project that the tests
/// themselves were started with are not passed on, nor what the user of this machine measured.
ProgramResult run_program(const std::string& program, const std::string& arguments,
                          const std::string& environment = "");
/// The one that was built.
ProgramResult run_fasttrain(const std::string& arguments, const std::string& environment = "");

}  // namespace libtrain
