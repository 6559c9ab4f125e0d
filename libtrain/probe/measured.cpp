#include "libtrain/probe/measured.hpp"

#include "libtrain/core/error.hpp"
#include "libtrain/facts/measured_file.hpp"
#include "libtrain/probe/machine_sources.hpp"

namespace libtrain {
namespace {

std::optional<std::string> absolute_path(const std::map<std::string, std::string>& environment,
                                         const char* name) {
  const auto at = environment.find(name);
  return at == environment.end() || !at->second.starts_with('/') ? std::nullopt
                                                                 : std::optional(at->second);
}

}  // namespace

std::optional<std::string> measured_folder(const std::map<std::string, std::string>& environment) {
  if (const auto cache = absolute_path(environment, "XDG_CACHE_HOME")) {
    return *cache + "/fasttrain";
  }
  if (const auto home = absolute_path(environment, "HOME")) {
    return *home + "/.cache/fasttrain";
  }
  return std::nullopt;
}

std::optional<std::string> measured_folder() {
  return measured_folder(MachineSources{}.environment());
}

MeasuredFacts probe_measured(const Sources& sources, const MachineFacts& machine) {
  const std::map<std::string, std::string> environment = sources.environment();
  const auto wish = environment.find("FASTTRAIN_MEASURED");
  const std::optional<std::string> folder = measured_folder(environment);
  if (!folder || (wish != environment.end() && wish->second == "off")) {
    return {};
  }
  const std::string file = *folder + "/" + measured_file_name(machine);
  const std::optional<std::string> text = sources.read(file);
  if (!text) {
    return {};
  }
  try {
    return parse_measured_facts(*text, file);
  } catch (const BadFile& error) {
    MeasuredFacts facts;
    facts.problem = error.what();
    return facts;
  }
}

}  // namespace libtrain
