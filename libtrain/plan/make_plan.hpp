#pragma once

#include <string>
#include <vector>

#include "libtrain/core/api.hpp"
#include "libtrain/facts/machine.hpp"
#include "libtrain/plan/options.hpp"
#include "libtrain/plan/plan.hpp"

namespace libtrain {

/// Decides everything the machine decides. Pure: equal arguments give equal plans.
/// Throws InvalidOption for a value out of range (code or FASTTRAIN_* variable, which is named with
/// its text) and for launch variables that contradict each other, Unsupported for a request this
/// machine or build cannot serve. Where nothing is asked, any other facts give a plan.
LT_API Plan make_plan(const PlanOptions& asked, const MachineFacts& machine);

/// The same plan completed with what depends on the model.
LT_API Plan complete_plan(const Plan& plan, const PlanOptions& asked, const MachineFacts& machine,
                          const ModelFacts& model);

/// A variable that must be set before a process starts, and the fact that speaks for it.
struct ProcessVariable {
  std::string name;
  std::string value;
  std::string reason;

  friend bool operator==(const ProcessVariable&, const ProcessVariable&) = default;
};

/// The variables that carry the plan into a process that cannot apply it itself: another program,
/// or one whose libraries read them at start. None without evidence, and none that is set already:
/// - TORCH_CUDA_ARCH_LIST, as `arch_list` decides;
/// - CUDA_DEVICE_ORDER=PCI_BUS_ID: where GPUs are unlike, so that indices are nvidia-smi's;
/// - PYTORCH_CUDA_ALLOC_CONF (the name that every supported LibTorch reads first), or the malloc
///   thresholds of glibc, as `allocator` decides;
/// - OMP_NUM_THREADS, where facts decide `threads`;
/// - what speaks for settings of NCCL and Gloo (choose_nccl_settings.hpp), as `nccl_settings`
///   decides.
LT_API std::vector<ProcessVariable> process_environment(const Plan& plan,
                                                        const MachineFacts& machine);

}  // namespace libtrain
