#include "examples/bert/simulation.hpp"

#include <fmt/format.h>

namespace bert {
namespace {

double mebibytes(int64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

}  // namespace

std::string describe(const libtrain::SimulationReport& report, int64_t steps,
                     int64_t waits_in_steps) {
  std::string text = fmt::format("Simulated {}\n", report.machine);
  text += fmt::format("  races          {}\n", report.races.size());
  for (const std::string& race : report.races) {
    text += fmt::format("                 {}\n", race);
  }
  text += fmt::format("  host waits     {} in {} steps, {} beside them\n", waits_in_steps, steps,
                      report.host_waits - waits_in_steps);
  if (waits_in_steps > 0) {
    for (const std::string& wait : report.waits) {
      text += fmt::format("                 {}\n", wait);
    }
  }
  text += fmt::format("  peak memory    {:.1f} MiB", mebibytes(report.peak_bytes));
  if (report.limit_bytes > 0) {
    text += fmt::format(" of {:.0f}", mebibytes(report.limit_bytes));
  }
  return text + "\n";
}

libtrain::format::Json to_json(const libtrain::SimulationReport& report, int64_t waits_in_steps) {
  return {{"machine", report.machine},
          {"races", report.races},
          {"waits", report.waits},
          {"host_waits", report.host_waits},
          {"waits_in_steps", waits_in_steps},
          {"peak_bytes", report.peak_bytes},
          {"limit_bytes", report.limit_bytes}};
}

}  // namespace bert
