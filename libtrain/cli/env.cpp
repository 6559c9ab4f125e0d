#include "libtrain/cli/env.hpp"

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "libtrain/cli/exit_code.hpp"
#include "libtrain/cli/machine_file.hpp"
#include "libtrain/cli/output.hpp"
#include "libtrain/core/text.hpp"
#include "libtrain/plan/make_plan.hpp"
namespace libtrain {
namespace {

using Variables = std::vector<ProcessVariable>;

/// Reasons may quote text from outside, but never more than one line of it: quote() escapes it.
std::string comment(const ProcessVariable& variable) { return fill("# {}\n", variable.reason); }

/// Any text as one word of a POSIX shell.
std::string shell_word(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    out += c == '\'' ? "'\\''" : std::string(1, c);
  }
  return out + "'";
}

std::string shell_text(const Variables& variables) {
  std::string out;
  for (const ProcessVariable& variable : variables) {
    out += comment(variable) + fill("export {}={}\n", variable.name, shell_word(variable.value));
  }
  return out;
}

/// For docker run --env-file, which takes values to the end of the line, quotes included.
std::string docker_text(const Variables& variables) {
  std::string out;
  for (const ProcessVariable& variable : variables) {
    out += comment(variable) + fill("{}={}\n", variable.name, variable.value);
  }
  return out;
}

/// For the head of a batch script; no value holds a comma, which would end it there.
std::string slurm_text(const Variables& variables) {
  std::string out;
  std::string list = "ALL";
  for (const ProcessVariable& variable : variables) {
    out += comment(variable);
    list += fill(",{}={}", variable.name, variable.value);
  }
  return out + fill("#SBATCH --export=\"{}\"\n", list);
}

std::string json_text(const Variables& variables) {
  auto object = nlohmann::ordered_json::object();
  for (const ProcessVariable& variable : variables) {
    object[variable.name] = {{"value", variable.value}, {"reason", variable.reason}};
  }
  return object.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace

int run_env(const EnvArguments& arguments) {
  const MachineFacts machine = find_machine(arguments.machine);
  const Variables variables = process_environment(make_plan({}, machine), machine);
  const bool text = arguments.format != "json";
  if (variables.empty() && text) {
    write_output("# nothing speaks for setting any variable\n");
  } else {
    write_output(arguments.format == "shell"    ? shell_text(variables)
                 : arguments.format == "docker" ? docker_text(variables)
                 : arguments.format == "slurm"  ? slurm_text(variables)
                                                : json_text(variables));
  }
  return kExitDone;
}

void add_env_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "env", "Print the variables to set before a process starts: eval \"$(fasttrain env)\"");
  auto arguments = std::make_shared<EnvArguments>();
  command->add_option("--machine", arguments->machine, "File of machine facts (default: probe)")
      ->type_name("FILE");
  command
      ->add_option("--format", arguments->format,
                   "shell, docker (for --env-file), json, or slurm (for a batch script)")
      ->check(CLI::IsMember({"shell", "docker", "json", "slurm"}))
      ->capture_default_str();
  command->callback([arguments, &exit_code] { exit_code = run_env(*arguments); });
}

}  // namespace libtrain
