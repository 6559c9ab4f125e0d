#include "libtrain/doctor/doctor.hpp"

#include <algorithm>

#include "libtrain/doctor/check.hpp"

namespace libtrain {
namespace {

std::vector<Check> all_checks() {
  std::vector<Check> all;
  for (const auto area :
       {driver_checks, gpu_checks, gpu_health_checks, link_checks, network_checks, memory_checks,
        cpu_checks, environment_checks, settings_checks, launch_checks, disk_checks}) {
    all.insert(all.end(), area().begin(), area().end());
  }
  return all;
}

}  // namespace

std::string_view to_text(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPass:
      return "PASS";
    case Verdict::kWarn:
      return "WARN";
    case Verdict::kFail:
      return "FAIL";
    case Verdict::kSkip:
      return "SKIP";
  }
  return "SKIP";
}

std::vector<Finding> diagnose(const MachineFacts& machine) {
  const Examined seen = examine(machine);
  std::vector<Finding> findings;
  for (const Check& check : all_checks()) {
    Outcome outcome = check.run(seen);
    findings.push_back({std::string(check.name), outcome.verdict, std::move(outcome.evidence),
                        std::move(outcome.consequence), std::move(outcome.remedy)});
  }
  return findings;
}

std::string_view area_of(std::string_view check) { return check.substr(0, check.find('.')); }

std::vector<std::string_view> doctor_areas() {
  std::vector<std::string_view> areas;
  for (const Check& check : all_checks()) {
    if (std::ranges::find(areas, area_of(check.name)) == areas.end()) {
      areas.push_back(area_of(check.name));
    }
  }
  return areas;
}

std::vector<CheckInfo> doctor_checks() {
  std::vector<CheckInfo> out;
  for (const Check& check : all_checks()) {
    out.push_back({check.name, check.question});
  }
  return out;
}

}  // namespace libtrain
