#pragma once

#include "libtrain/core/api.hpp"
#include "libtrain/facts/machine.hpp"
#include "libtrain/probe/sources.hpp"

namespace libtrain {

/// What can be learnt of this machine, process and build. Takes well under 0.3 s (longer only where
/// CUDA has to be asked in a child process: see probe_gpus), changes nothing, and leaves CUDA
/// untouched in this process. What cannot be read stays empty; a machine's state is never an error.
LT_API MachineFacts probe_machine();

/// The same of another machine: a test's.
LT_API MachineFacts probe_machine(const Sources& sources);

}  // namespace libtrain
