#include <set>

#include "libtrain/core/text.hpp"
#include "libtrain/plan/make_plan.hpp"

namespace libtrain {
namespace {

std::set<ComputeCapability> visible_capabilities(const MachineFacts& machine) {
  std::set<ComputeCapability> out;
  for (const GpuFacts& gpu : machine.gpus) {
    if (gpu.cuda_index && gpu.compute_capability) {
      out.insert(*gpu.compute_capability);
    }
  }
  return out;
}

bool gpus_are_unlike(const MachineFacts& machine) {
  std::set<std::string> names;
  for (const GpuFacts& gpu : machine.gpus) {
    if (gpu.name) {
      names.insert(*gpu.name);
    }
  }
  return names.size() > 1;
}

bool has_only_loopback(const MachineFacts& machine) {
  const LaunchFacts& launch = machine.launch;
  return machine.network.interfaces && machine.network.interfaces->empty() &&
         launch.world_size.value_or(1) > 1 && launch.world_size == launch.local_world_size;
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

void add_arch_list(const MachineFacts& machine, Collector& out) {
  const std::set<ComputeCapability> capabilities = visible_capabilities(machine);
  if (capabilities.empty() || !machine.library.cuda_version) {
    return;
  }
  std::vector<std::string> list;
  list.reserve(capabilities.size());
  for (const ComputeCapability capability : capabilities) {
    list.push_back(to_text(capability));
  }
  list.back() += "+PTX";
  out.add(
      "TORCH_CUDA_ARCH_LIST", join(list, ";"),
      fill("extensions are compiled for the GPUs here: compute capability {}", join(list, ", ")));
}

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
  add_arch_list(machine, out);
  if (gpus_are_unlike(machine)) {
    out.add("CUDA_DEVICE_ORDER", "PCI_BUS_ID",
            "the GPUs are unlike: CUDA would count the fastest first, nvidia-smi by bus");
  }
  add_allocator(plan, machine.launch, out);
  if (plan.threads.source == Source::kFacts) {
    out.add("OMP_NUM_THREADS", to_text(plan.threads.value),
            fill("threads={}: {}", plan.threads.value, plan.threads.reason));
  }
  if (has_only_loopback(machine)) {
    const std::string reason = "no interface but lo is up, and every process is on this machine";
    out.add("NCCL_SOCKET_IFNAME", "lo", reason);
    out.add("GLOO_SOCKET_IFNAME", "lo", reason);
  }
  return out.take();
}

}  // namespace libtrain
