#include "libtrain/cli/probe.hpp"

#include <CLI/CLI.hpp>
#include <memory>

#include "libtrain/cli/exit_code.hpp"
#include "libtrain/cli/output.hpp"
#include "libtrain/core/file_system.hpp"
#include "libtrain/facts/view.hpp"
#include "libtrain/probe/probe.hpp"

namespace libtrain {

int run_probe(const ProbeArguments& arguments) {
  const MachineFacts facts = probe_machine();
  if (!arguments.record.empty()) {
    write_file_atomically(arguments.record, format_machine_facts(facts));
  }
  write_output(arguments.json ? machine_facts_json(facts) : describe_machine(facts));
  return kExitDone;
}

void add_probe_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("probe", "Show what this machine offers for training");
  auto arguments = std::make_shared<ProbeArguments>();
  command->add_flag("--json", arguments->json, "Print JSON instead of a table");
  command
      ->add_option("--record", arguments->record,
                   "Also write the facts to this file, for `fasttrain plan --machine`")
      ->type_name("FILE");
  command->callback([arguments, &exit_code] { exit_code = run_probe(*arguments); });
}

}  // namespace libtrain
