#include "libtrain/cli/plan.hpp"

#include <CLI/CLI.hpp>
#include <memory>

#include "libtrain/cli/exit_code.hpp"
#include "libtrain/cli/output.hpp"
#include "libtrain/cli/plan_json.hpp"
#include "libtrain/core/file_system.hpp"
#include "libtrain/core/require.hpp"
#include "libtrain/plan/explain.hpp"
#include "libtrain/plan/make_plan.hpp"
#include "libtrain/plan/model_presets.hpp"
#include "libtrain/plan/nearest_name.hpp"
#include "libtrain/plan/option_table.hpp"
#include "libtrain/probe/probe.hpp"

namespace libtrain {
namespace {

constexpr int64_t kLargestFacts = int64_t{1} << 20;

MachineFacts find_machine(const std::string& file) {
  return file.empty() ? probe_machine() : parse_machine_facts(read_file(file, kLargestFacts), file);
}

/// A name with a slash or a dot is a file, any other a preset.
ModelFacts find_model(const std::string& name) {
  if (name.find_first_of("/.") != std::string::npos) {
    return parse_model_facts(read_file(name, kLargestFacts), name);
  }
  const std::optional<ModelFacts> preset = model_preset(name);
  const auto names = model_preset_names();
  require(preset.has_value(),
          "[cli.plan] no such model: model={}, expected one of {}, or a file (a name with a slash "
          "or a dot){}",
          quote(name), join(std::vector<std::string>(names.begin(), names.end()), ", "),
          suggestion(name, names));
  return *preset;
}

PlanOptions read_settings(const std::vector<std::string>& settings) {
  PlanOptions options;
  for (const std::string& setting : settings) {
    const size_t equals = setting.find('=');
    if (equals == std::string::npos) {
      throw CLI::ValidationError("--set", "expected KEY=VALUE, got " + quote(setting));
    }
    set_option(options, setting.substr(0, equals), setting.substr(equals + 1));
  }
  return options;
}

std::string settings_help() {
  std::string help = "Keys of --set, and the environment variables that set the same:\n";
  for (const OptionInfo& option : option_table()) {
    help += fill("  {}: {}; {}{}\n", option.key, option.meaning, option.allowed,
                 option.variable.empty() ? "" : fill(" ({})", option.variable));
  }
  return help;
}

}  // namespace

int run_plan(const PlanArguments& arguments) {
  const PlanOptions options = read_settings(arguments.settings);
  const MachineFacts machine = find_machine(arguments.machine);
  Plan plan = make_plan(options, machine);
  if (!arguments.model.empty()) {
    plan = complete_plan(plan, options, machine, find_model(arguments.model));
  }
  write_output(arguments.json
                   ? plan_json(plan).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) +
                         "\n"
                   : explain(plan, output_width()));
  return kExitDone;
}

void add_plan_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("plan", "Show how a model would be trained here, and why");
  auto arguments = std::make_shared<PlanArguments>();
  command->add_option("--machine", arguments->machine, "File of machine facts (default: probe)")
      ->type_name("FILE");
  command->add_option("--model", arguments->model, "Model preset, or file of model facts")
      ->type_name("NAME|FILE");
  command->add_option("--set", arguments->settings, "Ask for a value, as a program would")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command->add_flag("--json", arguments->json, "Print JSON instead of a table");
  command->footer(settings_help);
  command->callback([arguments, &exit_code] { exit_code = run_plan(*arguments); });
}

}  // namespace libtrain
