#include "libtrain/cli/tune.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libtrain/cli/child_program.hpp"
#include "libtrain/cli/exit_code.hpp"
#include "libtrain/cli/output.hpp"
#include "libtrain/cli/progress.hpp"
#include "libtrain/core/file_system.hpp"
#include "libtrain/core/require.hpp"
#include "libtrain/facts/measured_file.hpp"
#include "libtrain/plan/explain.hpp"
#include "libtrain/plan/make_plan.hpp"
#include "libtrain/plan/tuning.hpp"
#include "libtrain/probe/measured.hpp"
#include "libtrain/probe/probe.hpp"

namespace libtrain {
namespace {

/// What one child process is started with, and what its runs said.
struct Setting {
  std::string variable{};  ///< empty: as planned
  std::string value{};
  std::vector<double> milliseconds{};
  std::string failure{};  ///< the last line of a run that failed

  std::string label() const {
    return variable.empty() ? "as planned" : fill("{}={}", variable, value);
  }
};

std::string last_line(std::string_view text) {
  const std::vector<std::string_view> lines = split(trim(text), '\n');
  return std::string(lines.back());
}

void measure(const std::string& program, Setting& setting) {
  std::vector<std::pair<std::string, std::string>> variables{{"FASTTRAIN_MEASURED", "off"}};
  if (!setting.variable.empty()) {
    variables.emplace_back(setting.variable, setting.value);
  }
  const ChildResult result = run_child(program, variables);
  const std::optional<double> time = parse_number(last_line(result.output));
  if (result.exit_code == kExitDone && time && *time > 0.0) {
    setting.milliseconds.push_back(*time);
  } else {
    setting.failure =
        fill("exit code {}: {}", result.exit_code, quote(last_line(result.output), 400));
  }
}

/// The median of the rounds; nothing for a setting that failed in one.
std::optional<double> median(const Setting& setting) {
  if (!setting.failure.empty() || setting.milliseconds.empty()) {
    return std::nullopt;
  }
  std::vector<double> sorted = setting.milliseconds;
  std::ranges::sort(sorted);
  return sorted[sorted.size() / 2];
}

/// As planned first, then each other value of each decision.
std::vector<Setting> settings_of(const std::vector<TuningTrial>& trials) {
  std::vector<Setting> settings(1);
  for (const TuningTrial& trial : trials) {
    for (size_t i = 1; i < trial.values.size(); ++i) {
      settings.push_back({.variable = trial.variable, .value = trial.values[i]});
    }
  }
  return settings;
}

/// Rounds over all settings, so that what else the machine does reaches all of them alike.
void measure_all(const std::string& program, int rounds, std::vector<Setting>& settings) {
  Progress progress("measure", static_cast<int64_t>(settings.size()) * rounds, stderr);
  int64_t done = 0;
  for (int round = 0; round < rounds; ++round) {
    for (Setting& setting : settings) {
      progress.show(done++, setting.label());
      measure(program, setting);
    }
  }
  progress.show(done, "done");
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  std::array<char, 16> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%d", &parts)};
}

MeasuredFacts facts_of(const std::vector<TuningTrial>& trials,
                       const std::vector<Setting>& settings) {
  MeasuredFacts facts;
  facts.date = today();
  const std::optional<double> planned = median(settings.front());
  require<Error>(planned.has_value(), "[cli.tune] a step as planned could not be measured: {}",
                 settings.front().failure);
  auto setting = settings.begin() + 1;
  for (const TuningTrial& trial : trials) {
    (facts.*trial.times)[trial.values.front()] = *planned;
    for (size_t i = 1; i < trial.values.size(); ++i, ++setting) {
      if (const std::optional<double> time = median(*setting)) {
        (facts.*trial.times)[trial.values[i]] = *time;
      }
    }
  }
  return facts;
}

std::string table_of(const std::vector<Setting>& settings) {
  std::string table;
  for (const Setting& setting : settings) {
    std::string name = setting.label();
    name.resize(std::max<size_t>(name.size(), 40), ' ');
    const std::optional<double> time = median(setting);
    std::array<char, 32> shown{};
    std::snprintf(shown.data(), shown.size(), "%8.1f ms", time.value_or(0.0));
    table += fill("  {} {}\n", name, time ? shown.data() : "not possible, " + setting.failure);
  }
  return table;
}

}  // namespace

int run_tune(const TuneArguments& arguments) {
  MachineFacts machine = probe_machine();
  machine.measured = {};
  const Plan plan = make_plan({}, machine);
  require<Unsupported>(plan.device.value.type == DeviceType::kCpu,
                       "[cli.tune] cannot tune for device={}, expected cpu; FASTTRAIN_DEVICE=cpu "
                       "tunes for the CPU",
                       to_text(plan.device.value));
  const std::optional<std::string> folder = measured_folder();
  require(folder.has_value(),
          "[cli.tune] no folder to keep the result in: HOME is not set; set it or XDG_CACHE_HOME");
  make_writable_directory(*folder);
  const std::string program = sibling_program("fasttrain-step-time");

  const std::vector<TuningTrial> trials = tuning_trials(plan, machine.cpu);
  require(
      !trials.empty(),
      "[cli.tune] nothing to measure: the environment decides all; unset FASTTRAIN_* variables");
  std::vector<Setting> settings = settings_of(trials);
  measure_all(program, arguments.rounds, settings);
  machine.measured = facts_of(trials, settings);

  const std::string file = *folder + "/" + measured_file_name(machine);
  write_file_atomically(file, format_measured_facts(machine.measured, machine));
  write_output(fill(
      "A training step of a small transformer, median of {} rounds:\n\n{}\n"
      "What that changes in the plan:\n\n{}\n"
      "Kept in {}\n",
      arguments.rounds, table_of(settings),
      describe_difference(plan, "by facts", make_plan({}, machine), "measured", output_width()),
      file));
  return kExitDone;
}

void add_tune_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "tune", "Measure this CPU's fastest settings once (a minute or two), for its plans to use");
  auto arguments = std::make_shared<TuneArguments>();
  command->add_option("--rounds", arguments->rounds, "How often each setting is measured, in turn")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  command->callback([arguments, &exit_code] { exit_code = run_tune(*arguments); });
}

}  // namespace libtrain
