#include "libtrain/cli/doctor.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "libtrain/cli/exit_code.hpp"
#include "libtrain/cli/machine_file.hpp"
#include "libtrain/cli/output.hpp"
#include "libtrain/doctor/doctor.hpp"

namespace libtrain {

int run_doctor(const DoctorArguments& arguments) {
  std::vector<Finding> findings = diagnose(find_machine(arguments.machine, probe_machine_and_cuda));
  if (!arguments.areas.empty()) {
    std::erase_if(findings, [&](const Finding& finding) {
      return std::ranges::find(arguments.areas, area_of(finding.check)) == arguments.areas.end();
    });
  }
  write_output(arguments.json ? findings_json(findings)
                              : describe_findings(findings, output_width()));
  return exit_code_of(findings, arguments.strict);
}

void add_doctor_command(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("doctor", "Check this machine's set-up: what is wrong, and what mends it");
  auto arguments = std::make_shared<DoctorArguments>();
  std::vector<std::string> areas;
  for (const std::string_view area : doctor_areas()) {
    areas.emplace_back(area);
  }
  command->add_option("--machine", arguments->machine, "File of machine facts (default: probe)")
      ->type_name("FILE");
  command->add_option("--only", arguments->areas, "Check this area alone; may be given again")
      ->type_name("AREA")
      ->allow_extra_args(false)
      ->check(CLI::IsMember(areas));
  command->add_flag("--strict", arguments->strict, "Exit with 1 for warnings too");
  command->add_flag("--json", arguments->json, "Print JSON instead of text");
  command->callback([arguments, &exit_code] { exit_code = run_doctor(*arguments); });
}

}  // namespace libtrain
