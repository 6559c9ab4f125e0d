#pragma once

#include "libtrain/core/api.hpp"
#include "libtrain/facts/machine.hpp"

namespace libtrain {

/// What can be learnt of this machine, process and build. Takes well under 0.3 s, changes nothing,
/// and leaves CUDA untouched in this process. What cannot be read stays empty; it never throws for
/// a machine's state.
LT_API MachineFacts probe_machine();

}  // namespace libtrain
