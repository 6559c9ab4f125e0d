#pragma once

#include <CLI/App.hpp>
#include <string>

namespace libtrain {

struct ProbeArguments {
  bool json = false;
  bool redact = false;
  std::string record;  ///< file to write the facts to; empty for none
};

/// `fasttrain probe`: prints what is known of this machine. Returns the exit code.
int run_probe(const ProbeArguments& arguments);

/// Adds the subcommand `probe` to `app`; running it sets `exit_code`.
void add_probe_command(CLI::App& app, int& exit_code);

}  // namespace libtrain
