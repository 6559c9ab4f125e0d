#include "libtrain/cli/probe.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "libtrain/cli/exit_code.hpp"
#include "libtrain/cli/output.hpp"
#include "libtrain/core/file_system.hpp"
#include "libtrain/facts/redact.hpp"
#include "libtrain/facts/view.hpp"
#include "libtrain/probe/probe.hpp"

namespace libtrain {

namespace {

/// This machine's name, and its part before the domain.
std::vector<std::string> host_names() {
  std::array<char, 256> buffer{};
  if (::gethostname(buffer.data(), buffer.size() - 1) != 0) {
    return {};
  }
  const std::string name = buffer.data();
  return {name, name.substr(0, name.find('.'))};
}

}  // namespace

int run_probe(const ProbeArguments& arguments) {
  MachineFacts facts = probe_machine_and_cuda();
  if (arguments.redact) {
    facts = redact(std::move(facts), host_names());
  }
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
  command->add_flag("--redact", arguments->redact,
                    "Leave out what tells whose machine it is: ids of GPUs, host names, addresses, "
                    "user names, process numbers");
  command
      ->add_option("--record", arguments->record,
                   "Also write the facts to this file, for `fasttrain plan --machine`")
      ->type_name("FILE");
  command->callback([arguments, &exit_code] { exit_code = run_probe(*arguments); });
}

}  // namespace libtrain
