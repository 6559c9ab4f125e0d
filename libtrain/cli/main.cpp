#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <sstream>

#include "libtrain/cli/doctor.hpp"
#include "libtrain/cli/env.hpp"
#include "libtrain/cli/exit_code.hpp"
#include "libtrain/cli/output.hpp"
#include "libtrain/cli/plan.hpp"
#include "libtrain/cli/probe.hpp"
#include "libtrain/cli/tune.hpp"

namespace libtrain {
namespace {

int run(int argc, char** argv) {
  CLI::App app("fasttrain: how to train on this machine, and why", "fasttrain");
  app.set_version_flag("--version", "fasttrain " FASTTRAIN_VERSION);
  app.require_subcommand(1);
  int exit_code = kExitDone;
  add_plan_command(app, exit_code);
  add_probe_command(app, exit_code);
  add_doctor_command(app, exit_code);
  add_env_command(app, exit_code);
  add_tune_command(app, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    std::ostringstream text;
    app.exit(help, text, text);
    write_output(text.str());
    return kExitDone;
  } catch (const CLI::ParseError& error) {
    app.exit(error);
    return kExitUsage;
  }
  return exit_code;
}

}  // namespace
}  // namespace libtrain

int main(int argc, char** argv) {
  try {
    return libtrain::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fasttrain: %s\n", error.what());
    return libtrain::exit_code_of(error);
  }
}
