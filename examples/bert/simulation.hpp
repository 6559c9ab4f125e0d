#pragma once

#include <cstdint>
#include <string>

#include "libtrain/format/json.hpp"
#include "libtrain/runtime/simulation.hpp"

namespace bert {

/// What a training run on a simulated device showed, as a table. `waits_in_steps`: how many of the
/// report's host waits happened between the first step's begin and the last one's end, evaluations
/// left out.
std::string describe(const libtrain::SimulationReport& report, int64_t steps,
                     int64_t waits_in_steps);

libtrain::format::Json to_json(const libtrain::SimulationReport& report, int64_t waits_in_steps);

}  // namespace bert
