#include "libtrain/cli/plan.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <memory>

#include "libtrain/cli/exit_code.hpp"
#include "libtrain/cli/machine_file.hpp"
#include "libtrain/cli/output.hpp"
#include "libtrain/cli/plan_json.hpp"
#include "libtrain/core/file_system.hpp"
#include "libtrain/core/require.hpp"
#include "libtrain/plan/explain.hpp"
#include "libtrain/plan/make_plan.hpp"
#include "libtrain/plan/model_presets.hpp"
#include "libtrain/plan/nearest_name.hpp"
#include "libtrain/plan/option_table.hpp"

namespace libtrain {
namespace {

constexpr int64_t kLargestFacts = int64_t{1} << 20;
constexpr int kMostProcesses = 1 << 20;

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

/// The first of so many processes: one for each visible GPU, further ones on machines like this;
/// all on this machine where it has none.
void start_processes(MachineFacts& machine, int processes) {
  const auto gpus = static_cast<int>(std::ranges::count_if(
      machine.gpus, [](const GpuFacts& gpu) { return gpu.cuda_index.has_value(); }));
  machine.launch.rank = 0;
  machine.launch.local_rank = 0;
  machine.launch.world_size = processes;
  machine.launch.local_world_size = gpus > 0 ? std::min(gpus, processes) : processes;
}

Plan plan_for(const PlanArguments& arguments, const std::string& machine_file) {
  const PlanOptions options = read_settings(arguments.settings);
  MachineFacts machine = find_machine(machine_file);
  if (arguments.world > 0) {
    start_processes(machine, arguments.world);
  }
  const Plan plan = make_plan(options, machine);
  return arguments.model.empty()
             ? plan
             : complete_plan(plan, options, machine, find_model(arguments.model));
}

/// One decision with all that is known of it.
std::string why_text(const Plan& plan, const std::string& key) {
  const std::vector<PlanRow> rows = plan_rows(plan);
  const auto row = std::ranges::find(rows, key, &PlanRow::key);
  std::vector<std::string_view> keys;
  std::ranges::transform(rows, std::back_inserter(keys), &PlanRow::key);
  require(row != rows.end(), "[cli.plan] no such decision: why={}, expected one of {}{}",
          quote(key), join(std::vector<std::string>(keys.begin(), keys.end()), ", "),
          suggestion(key, keys));
  const std::string by = row->source.empty() ? "" : fill(" (by {}, {})", row->source, row->scope);
  const std::string reason = row->reason.empty() ? "" : fill("\n{}", row->reason);
  const auto option = std::ranges::find(option_table(), key, &OptionInfo::key);
  const std::string otherwise =
      option == option_table().end()
          ? ""
          : fill("\n--set {}=VALUE{} asks for another: {}", key,
                 option->variable.empty() ? "" : fill(" or {}=VALUE", option->variable),
                 option->allowed);
  return fill("{} = {}{}{}{}\n", row->key, row->value, by, reason, otherwise);
}

}  // namespace

int run_plan(const PlanArguments& arguments) {
  if (!arguments.difference.empty()) {
    const std::string& first = arguments.difference.front();
    const std::string& second = arguments.difference.back();
    write_output(describe_difference(plan_for(arguments, first), first, plan_for(arguments, second),
                                     second, output_width()));
    return kExitDone;
  }
  const Plan plan = plan_for(arguments, arguments.machine);
  if (!arguments.why.empty()) {
    write_output(why_text(plan, arguments.why));
    return kExitDone;
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
  CLI::Option* machine =
      command->add_option("--machine", arguments->machine, "File of machine facts (default: probe)")
          ->type_name("FILE");
  command->add_option("--model", arguments->model, "Model preset, or file of model facts")
      ->type_name("NAME|FILE");
  command->add_option("--set", arguments->settings, "Ask for a value, as a program would")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command->add_option("--world", arguments->world, "Plan for so many processes, one a GPU")
      ->type_name("N")
      ->check(CLI::Range(1, kMostProcesses));
  CLI::Option* json = command->add_flag("--json", arguments->json, "Print JSON instead of a table");
  CLI::Option* why =
      command
          ->add_option("--why", arguments->why, "Show this decision alone, and how to override it")
          ->type_name("KEY")
          ->excludes(json);
  command
      ->add_option("--diff", arguments->difference, "Show what differs between two machines' plans")
      ->type_name("FILE")
      ->expected(2)
      ->excludes(machine)
      ->excludes(json)
      ->excludes(why);
  command->footer(settings_help);
  command->callback([arguments, &exit_code] { exit_code = run_plan(*arguments); });
}

}  // namespace libtrain
