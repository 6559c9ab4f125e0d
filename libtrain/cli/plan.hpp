#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

namespace libtrain {

struct PlanArguments {
  std::string machine;                  ///< file of machine facts; empty: this machine
  std::string model;                    ///< preset, or file of model facts; empty: none yet
  std::vector<std::string> settings;    ///< "key=value", as options of the program
  std::string why;                      ///< key of the one decision to show; empty: all
  std::vector<std::string> difference;  ///< two files of machine facts to compare; or none
  int world = 0;                        ///< processes to plan for; 0: as this one was started
  bool json = false;
};

/// `fasttrain plan`: prints what would be decided, by whom, and why.
int run_plan(const PlanArguments& arguments);

/// Adds the subcommand `plan` to `app`; running it sets `exit_code`.
void add_plan_command(CLI::App& app, int& exit_code);

}  // namespace libtrain
