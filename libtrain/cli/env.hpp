#pragma once

#include <CLI/App.hpp>
#include <string>

namespace libtrain {

struct EnvArguments {
  std::string machine;           ///< file of machine facts; empty: this machine
  std::string format = "shell";  ///< shell, docker, json or slurm
};

/// `fasttrain env`: prints the variables that must be set before a process starts, each with its
/// reason. Returns the exit code.
int run_env(const EnvArguments& arguments);

/// Adds the subcommand `env` to `app`; running it sets `exit_code`.
void add_env_command(CLI::App& app, int& exit_code);

}  // namespace libtrain
