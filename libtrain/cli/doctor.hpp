#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

namespace libtrain {

struct DoctorArguments {
  std::string machine;             ///< file of machine facts; empty: this machine
  std::vector<std::string> areas;  ///< "memory"; empty: all
  bool strict = false;             ///< warnings count as failures
  bool json = false;
};

/// `fasttrain doctor`: prints what every check found. Returns 1 when one failed (strict: or
/// warned), else 0.
int run_doctor(const DoctorArguments& arguments);

/// Adds the subcommand `doctor` to `app`; running it sets `exit_code`.
void add_doctor_command(CLI::App& app, int& exit_code);

}  // namespace libtrain
