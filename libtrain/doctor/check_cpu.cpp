#include <algorithm>
#include <array>
#include <cmath>

#include "libtrain/core/text.hpp"
#include "libtrain/doctor/check.hpp"

namespace libtrain {
namespace {

bool on_cpu(const Examined& seen) {
  return seen.plan && seen.plan->device.value.type == DeviceType::kCpu;
}

/// Threads a user or launcher asked for; nothing where the plan chose them.
std::optional<int> threads_asked(const Examined& seen) {
  return seen.plan && seen.plan->threads.source == Source::kEnvironment
             ? std::optional(seen.plan->threads.value)
             : std::nullopt;
}

Outcome check_one_thread(const Examined& seen) {
  const std::string* threads = variable(seen, "OMP_NUM_THREADS");
  if (threads == nullptr || !seen.plan) {
    return skip(seen.plan ? "OMP_NUM_THREADS is not set" : "no plan can be made");
  }
  const int cores = seen.machine.cpu.affinity_cores.value_or(1) / local_processes(seen.machine);
  if (seen.plan->threads.value > 1 || cores < 2) {
    return pass(fill("{}, {} used", setting(seen, "OMP_NUM_THREADS"), seen.plan->threads.value));
  }
  const std::string by =
      seen.machine.launch.launcher == "torchrun" ? ", as torchrun sets it where it is not set" : "";
  return warn_of(
      fill("{}{}; {} physical cores a process", setting(seen, "OMP_NUM_THREADS"), by, cores),
      "CPU operators, and all of training without a GPU, use one core",
      fill("export OMP_NUM_THREADS={} before the launcher, or FASTTRAIN_THREADS={}", cores, cores));
}

/// What this process may use at once, in CPUs, and the fact that bounds it.
std::pair<double, std::string> cpus_granted(const CpuFacts& cpu) {
  double granted = cpu.affinity_cpus.value_or(cpu.logical_cpus.value_or(0));
  std::string fact = fill("{} CPUs in the affinity mask", granted);
  if (cpu.cpuset_cpus && *cpu.cpuset_cpus < granted) {
    granted = *cpu.cpuset_cpus;
    fact = fill("{} CPUs in the cpuset", granted);
  }
  if (cpu.quota_cpus && *cpu.quota_cpus < granted) {
    granted = *cpu.quota_cpus;
    fact = fill("a cgroup quota of {} CPUs", granted);
  }
  return {granted, fact};
}

Outcome check_too_many_threads(const Examined& seen) {
  const std::optional<int> asked = threads_asked(seen);
  const auto [granted, fact] = cpus_granted(seen.machine.cpu);
  if (!asked || granted <= 0) {
    return skip(asked ? "the CPUs are unknown" : "the plan chose the threads");
  }
  const int64_t processes = local_processes(seen.machine);
  const std::string found = fill("{} threads in each of {} processes, {}", *asked, processes, fact);
  if (static_cast<double>(*asked * processes) <= std::ceil(granted)) {
    return pass(found);
  }
  const int64_t fit = std::max<int64_t>(static_cast<int64_t>(granted) / processes, 1);
  return warn_of(
      found,
      "threads wait for a CPU and for each other at every barrier; under a quota the kernel "
      "stops the process for the rest of each period",
      fill("export OMP_NUM_THREADS={}", fit));
}

Outcome check_affinity(const Examined& seen) {
  const CpuFacts& cpu = seen.machine.cpu;
  if (!cpu.affinity_cpus || !cpu.logical_cpus) {
    return skip("the affinity mask is unknown");
  }
  const std::string found =
      fill("{} of {} CPUs in the affinity mask", *cpu.affinity_cpus, *cpu.logical_cpus);
  if (*cpu.affinity_cpus > 1 || *cpu.logical_cpus == 1) {
    return pass(found);
  }
  return warn_of(found, "the program, its data workers and its transfers share one CPU",
                 "Slurm: --cpus-per-task=8; elsewhere: start without OMP_PROC_BIND or taskset");
}

Outcome check_numa(const Examined& seen) {
  const CpuFacts& cpu = seen.machine.cpu;
  if (!on_cpu(seen) || !cpu.affinity_nodes) {
    return skip(on_cpu(seen) ? "the NUMA nodes of the mask are unknown"
                             : "training is not on the CPU");
  }
  const size_t nodes = cpu.affinity_nodes->size();
  if (nodes < 2 || local_processes(seen.machine) > 1) {
    return pass(fill("memory nodes: {}; processes: {}", nodes, local_processes(seen.machine)));
  }
  return warn_of(fill("one process on NUMA nodes {}", join(*cpu.affinity_nodes, ", ")),
                 "half and more of all memory accesses go to another node",
                 fill("numactl --cpunodebind={} --membind={}, and a process for each node",
                      cpu.affinity_nodes->front(), cpu.affinity_nodes->front()));
}

Outcome check_gpu_node(const Examined& seen) {
  const auto& nodes = seen.machine.cpu.affinity_nodes;
  const bool on_gpu = seen.plan && !on_cpu(seen);
  const auto gpus = visible_gpus(seen.machine);
  if (!on_gpu || !nodes || gpus.empty()) {
    return skip(on_gpu ? "the NUMA nodes of the mask are unknown" : "training is not on a GPU");
  }
  const int index = seen.plan->device.value.index;
  const auto gpu = std::ranges::find(gpus, index, [](const GpuFacts* g) { return *g->cuda_index; });
  if (gpu == gpus.end() || !(*gpu)->numa_node) {
    return skip("the node of the GPU is unknown");
  }
  const std::string node = to_text(*(*gpu)->numa_node);
  const std::string found = fill("{} is on NUMA node {}, this process may run on {}",
                                 name_of(**gpu), node, join(*nodes, ", "));
  if (std::ranges::find(*nodes, node) != nodes->end()) {
    return pass(found);
  }
  const auto& allowed = seen.machine.cpu.memory_nodes;
  const bool refused = allowed && std::ranges::find(*allowed, node) == allowed->end();
  return warn_of(found, "copies to the GPU cross the sockets: less bandwidth, more latency",
                 refused ? fill("have the container or job widened to node {}: its cpuset allows "
                                "memory of {} alone",
                                node, join(*allowed, ", "))
                         : fill("numactl --cpunodebind={} --membind={}", node, node));
}

/// intel_pstate and amd-pstate-epp name their ordinary, load-driven mode "powersave" (Linux,
/// Documentation/admin-guide/pm/intel_pstate.rst); with other drivers it is the lowest frequency.
Outcome check_governor(const Examined& seen) {
  const CpuFacts& cpu = seen.machine.cpu;
  if (!cpu.governor) {
    return skip("no cpufreq: the hypervisor or the firmware governs");
  }
  const std::string driver = cpu.frequency_driver.value_or("unknown driver");
  const std::string found = fill("{} ({})", *cpu.governor, driver);
  const bool by_load = driver == "intel_pstate" || driver == "amd-pstate-epp";
  const bool slow = (*cpu.governor == "powersave" && !by_load) || *cpu.governor == "conservative";
  return !slow ? pass(found)
               : warn_of(found,
                         *cpu.governor == "powersave"
                             ? "the CPU stays at its lowest frequency"
                             : "the frequency follows the load too slowly for short steps",
                         "sudo cpupower frequency-set -g performance");
}

Outcome check_isa(const Examined& seen) {
  const CpuFacts& cpu = seen.machine.cpu;
  const std::string* forced = variable(seen, "FASTTRAIN_ISA");
  const std::string best = cpu.avx512 == true ? "avx512" : cpu.avx2 == true ? "avx2" : "scalar";
  if (cpu.architecture != "x86_64" || !cpu.avx2) {
    return skip("of x86 alone");
  }
  if (forced != nullptr && *forced != best) {
    return warn_of(fill("{}, the CPU has {}", setting(seen, "FASTTRAIN_ISA"), best),
                   "CPU kernels run below the CPU's speed", "unset FASTTRAIN_ISA");
  }
  return best != "scalar" ? pass(best)
                          : warn_of("no AVX2, or the operating system does not save its registers",
                                    "CPU kernels run without vector instructions",
                                    "in a VM: pass the host's CPU through (qemu -cpu host)");
}

Outcome check_precision(const Examined& seen) {
  if (!seen.plan) {
    return skip("no plan can be made");
  }
  const Decision<PrecisionMode>& precision = seen.plan->precision;
  const std::string found = fill("{}: {}", to_text(precision.value), precision.reason);
  const bool costly = precision.source == Source::kEnvironment &&
                      precision.reason.find("slower") != std::string::npos;
  return costly
             ? warn_of(found, "every step is slower than in the precision that the machine favours",
                       "unset FASTTRAIN_PRECISION")
             : pass(found);
}

constexpr std::array kChecks{
    Check{"cpu.one_thread", "did a launcher leave one thread", check_one_thread},
    Check{"cpu.too_many_threads", "do the threads fit the CPUs granted", check_too_many_threads},
    Check{"cpu.affinity", "may the process use more than one CPU", check_affinity},
    Check{"cpu.numa", "does one process span memory nodes", check_numa},
    Check{"cpu.gpu_node", "does the process run beside its GPU", check_gpu_node},
    Check{"cpu.governor", "does the CPU run at full frequency", check_governor},
    Check{"cpu.isa", "do the kernels use the CPU's vectors", check_isa},
    Check{"cpu.precision", "does the precision suit the device", check_precision},
};

}  // namespace

std::span<const Check> cpu_checks() { return kChecks; }

}  // namespace libtrain
