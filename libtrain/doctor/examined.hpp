#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libtrain/facts/machine.hpp"
#include "libtrain/plan/plan.hpp"

namespace libtrain {

/// What the checks look at: a machine, and the plan its user would get.
struct Examined {
  const MachineFacts& machine;
  std::optional<Plan> plan;  ///< empty where none can be made
  std::string plan_problem;  ///< why not
};

Examined examine(const MachineFacts& machine);

/// The text of a variable; null when it is not set.
const std::string* variable(const Examined& seen, std::string_view name);
/// Whether the variable holds a number other than 0, as NCCL and CUDA read their switches.
bool switched_on(const Examined& seen, std::string_view name);
/// `NAME="value"` of a variable that is set.
std::string setting(const Examined& seen, std::string_view name);

/// The GPUs CUDA shows this process, by CUDA index.
std::vector<const GpuFacts*> visible_gpus(const MachineFacts& machine);
/// Those of them that answer: what a lost one did not tell says nothing about its links.
std::vector<const GpuFacts*> sound_gpus(const MachineFacts& machine);
/// `GPU 0 ("NVIDIA L4")`, the index being CUDA's; NVML's where CUDA does not show it.
std::string name_of(const GpuFacts& gpu);
/// What `nvidia-smi -i` takes: the index NVML counts by, "N" where it is unknown.
std::string nvml_name(const GpuFacts& gpu);

/// Whether nothing runs on the GPU, as far as is known: clocks, link and power then say nothing
/// about work. Some drivers do not name "idle" among the reasons, but state 8 and up are for no
/// work.
bool is_idle(const GpuFacts& gpu);

int local_processes(const MachineFacts& machine);
/// Whether the processes of this job are on more than one machine.
bool spans_machines(const MachineFacts& machine);

}  // namespace libtrain
