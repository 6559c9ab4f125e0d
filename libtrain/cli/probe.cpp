#include "libtrain/cli/probe.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "libtrain/core/file_system.hpp"
#include "libtrain/facts/machine.hpp"
#include "libtrain/probe/probe.hpp"

namespace libtrain {

int run_probe(const ProbeArguments& arguments) {
  const std::string text = format_machine_facts(probe_machine());
  if (!arguments.record.empty()) {
    write_file_atomically(arguments.record, text);
    return 0;
  }
  std::fputs(text.c_str(), stdout);
  return 0;
}

void add_probe_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("probe", "Show what this machine offers for training");
  auto arguments = std::make_shared<ProbeArguments>();
  command->add_flag("--json", arguments->json, "Print JSON instead of a table");
  command->add_option("--record", arguments->record, "Write the facts to this file");
  command->callback([arguments, &exit_code] { exit_code = run_probe(*arguments); });
}

}  // namespace libtrain
