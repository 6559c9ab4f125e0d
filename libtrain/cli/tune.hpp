#pragma once

#include <CLI/App.hpp>

namespace libtrain {

struct TuneArguments {
  int rounds = 3;  ///< every setting is measured once in each
};

/// `fasttrain tune`: measures the decisions that facts make against their alternatives, in programs
/// of their own, and keeps the times for the plans of this machine. Returns the exit code. Throws
/// Unsupported where the plan's device is not the CPU and in a build without LibTorch, BadFile when
/// the result cannot be kept.
int run_tune(const TuneArguments& arguments);

/// Adds the subcommand `tune` to `app`; running it sets `exit_code`.
void add_tune_command(CLI::App& app, int& exit_code);

}  // namespace libtrain
