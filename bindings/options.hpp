#pragma once

#include <torch/csrc/utils/pybind.h>

#include "libtrain/plan/options.hpp"

namespace fasttrain {

/// Keyword arguments as plan options; None leaves a choice to the machine. A host process gets
/// settings that cannot be undone only when it asks (allow_process_settings). Throws InvalidOption
/// for a keyword that no option has (the nearest one is suggested) and for a value not allowed.
libtrain::PlanOptions read_options(const pybind11::dict& keywords);

}  // namespace fasttrain
