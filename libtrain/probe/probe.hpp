#pragma once

#include "libtrain/core/api.hpp"
#include "libtrain/facts/machine.hpp"
#include "libtrain/probe/sources.hpp"

namespace libtrain {

/// What can be learnt of this machine, process and build. Takes well under 0.3 s without an NVIDIA
/// driver; the driver is asked in a child process, which is ended when it hangs (NvmlLimits).
/// Longer where GPUs have to be woken, or CUDA has to be asked: see probe_gpus. Changes nothing,
/// and leaves CUDA untouched in this process. What cannot be read stays empty; a machine's state is
/// never an error.
LT_API MachineFacts probe_machine();

/// The same of another machine: a test's.
LT_API MachineFacts probe_machine(const Sources& sources);

}  // namespace libtrain
