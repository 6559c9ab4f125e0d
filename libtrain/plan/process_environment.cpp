#include <set>

#include "libtrain/core/text.hpp"
#include "libtrain/plan/choose_arch_list.hpp"
#include "libtrain/plan/choose_nccl_settings.hpp"
#include "libtrain/plan/make_plan.hpp"

namespace libtrain {
namespace {

bool gpus_are_unlike(const MachineFacts& machine) {
  std::set<std::string> names;
  for (const GpuFacts& gpu : machine.gpus) {
    if (gpu.name) {
      names.insert(*gpu.name);
    }
  }
  return names.size() > 1;
}

/// Keeps what is added in order, but for what the user has set.
class Collector {
 public:
  explicit Collector(const LaunchFacts& launch) : launch_(launch) {}

  void add(const std::string& name, std::string value, std::string reason) {
    if (!launch_.variables.contains(name)) {
      out_.push_back({name, std::move(value), std::move(reason)});
    }
  }
  std::vector<ProcessVariable> take() { return std::move(out_); }

 private:
  const LaunchFacts& launch_;
  std::vector<ProcessVariable> out_;
};

void add_allocator(const Plan& plan, const LaunchFacts& launch, Collector& out) {
  const std::string reason =
      fill("allocator={}: {}", to_text(plan.allocator.value), plan.allocator.reason);
  if (plan.allocator.value == AllocatorSetting::kExpandableSegments &&
      !launch.variables.contains("PYTORCH_ALLOC_CONF")) {
    out.add("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True", reason);
  }
  if (plan.allocator.value == AllocatorSetting::kGlibcThresholds) {
    out.add("MALLOC_MMAP_THRESHOLD_", "2147483647", reason);
    out.add("MALLOC_TRIM_THRESHOLD_", "2147483647", reason);
  }
}

}  // namespace

std::vector<ProcessVariable> process_environment(const Plan& plan, const MachineFacts& machine) {
  Collector out(machine.launch);
  if (plan.arch_list.value != kNoArchList) {
    out.add("TORCH_CUDA_ARCH_LIST", plan.arch_list.value, plan.arch_list.reason);
  }
  if (gpus_are_unlike(machine)) {
    out.add("CUDA_DEVICE_ORDER", "PCI_BUS_ID",
            "the GPUs are unlike: CUDA would count the fastest first, nvidia-smi by bus");
  }
  add_allocator(plan, machine.launch, out);
  if (plan.threads.source == Source::kFacts) {
    out.add("OMP_NUM_THREADS", to_text(plan.threads.value),
            fill("threads={}: {}", plan.threads.value, plan.threads.reason));
  }
  if (plan.nccl_settings.value == NcclSettings::kByEvidence) {
    for (const ProcessVariable& variable : nccl_evidence(machine)) {
      out.add(variable.name, variable.value, variable.reason);
    }
  }
  return out.take();
}

}  // namespace libtrain
