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

/// For tools: probe_machine(), and whether CUDA starts (gpu_driver.cuda_starts), which is asked in
/// a child process meanwhile. Unknown where it has not answered after 0.9 s.
LT_API MachineFacts probe_machine_and_cuda();
LT_API MachineFacts probe_machine_and_cuda(const Sources& sources);

}  // namespace libtrain
