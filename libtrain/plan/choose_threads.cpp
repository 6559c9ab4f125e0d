#include "libtrain/plan/choose_threads.hpp"

#include <algorithm>
#include <cmath>

#include "libtrain/core/require.hpp"
#include "libtrain/plan/option_table.hpp"

namespace libtrain {
namespace {

/// An upper bound on the threads, and the fact that sets it.
struct Bound {
  int threads;
  std::string fact;
};

int clamp(double threads) {
  return static_cast<int>(std::clamp(threads, 1.0, static_cast<double>(kMaxThreads)));
}

std::string counted(int count, std::string_view noun) {
  return fill("{} {}{}", count, noun, count == 1 ? "" : "s");
}

/// Of the cores, the best known count: of this process's mask, else of the whole machine.
std::optional<Bound> bound_by_cores(const CpuFacts& cpu) {
  if (cpu.affinity_cores) {
    return Bound{clamp(*cpu.affinity_cores),
                 fill("{} in the affinity mask", counted(*cpu.affinity_cores, "physical core"))};
  }
  if (cpu.affinity_cpus) {
    return Bound{clamp(*cpu.affinity_cpus),
                 fill("{} in the affinity mask", counted(*cpu.affinity_cpus, "CPU"))};
  }
  if (cpu.cores) {
    return Bound{clamp(*cpu.cores), counted(*cpu.cores, "physical core")};
  }
  if (cpu.logical_cpus) {
    return Bound{clamp(*cpu.logical_cpus), counted(*cpu.logical_cpus, "CPU")};
  }
  return std::nullopt;
}

std::optional<Bound> smallest_bound(const CpuFacts& cpu) {
  std::optional<Bound> smallest = bound_by_cores(cpu);
  const auto consider = [&](Bound bound) {
    if (!smallest || bound.threads < smallest->threads) {
      smallest = std::move(bound);
    }
  };
  if (cpu.performance_cores) {
    consider({clamp(*cpu.performance_cores),
              fill("{} of a hybrid CPU", counted(*cpu.performance_cores, "performance core"))});
  }
  if (cpu.cpuset_cpus) {
    consider({clamp(*cpu.cpuset_cpus), fill("cpuset of {}", counted(*cpu.cpuset_cpus, "CPU"))});
  }
  if (cpu.quota_cpus && std::isfinite(*cpu.quota_cpus)) {
    const double whole = std::ceil(*cpu.quota_cpus);
    consider({clamp(whole), fill("cgroup quota of {} CPUs{}", *cpu.quota_cpus,
                                 whole == *cpu.quota_cpus ? "" : ", rounded up")});
  }
  return smallest;
}

/// "4" and "4,2" (one number a nesting level, OpenMP 5.0, 6.2); nothing for text that is no count:
/// OpenMP ignores a list with one bad number as a whole.
std::optional<int> parse_omp_threads(std::string_view text) {
  std::optional<int> first;
  for (const std::string_view part : split(text, ',')) {
    const std::optional<int64_t> value = parse_integer(trim(part));
    if (!value || *value < 1 || *value > kMaxThreads) {
      return std::nullopt;
    }
    first = first.value_or(static_cast<int>(*value));
  }
  return first;
}

Decision<int> choose_by_facts(const CpuFacts& cpu, const LaunchFacts& launch) {
  const std::optional<Bound> bound = smallest_bound(cpu);
  if (!bound) {
    return {1, Source::kDefault, "the number of cores is unknown"};
  }
  const int processes = std::max(launch.local_world_size.value_or(1), 1);
  if (processes == 1) {
    return {bound->threads, Source::kFacts, bound->fact};
  }
  return {std::max(bound->threads / processes, 1), Source::kFacts,
          fill("{}, divided by {} processes on this machine", bound->fact, processes)};
}

}  // namespace

Decision<int> choose_threads(const Request<int>& asked, const CpuFacts& cpu,
                             const LaunchFacts& launch) {
  if (asked.value) {
    require(*asked.value >= 1 && *asked.value <= kMaxThreads,
            "[plan.threads] out of range: threads={}, expected 1 to {}", *asked.value, kMaxThreads);
    return grant(asked);
  }
  Decision<int> decision = choose_by_facts(cpu, launch);
  const auto variable = launch.variables.find("OMP_NUM_THREADS");
  if (variable == launch.variables.end()) {
    return decision;
  }
  const std::string setting = fill("OMP_NUM_THREADS={}", quote(variable->second));
  const std::optional<int> threads = parse_omp_threads(variable->second);
  if (!threads) {
    decision.reason += fill("; {} is no count and was ignored", setting);
    return decision;
  }
  if (*threads == 1 && decision.value > 1) {
    const std::string by =
        launch.launcher ? fill(", which {} may have set", quote(*launch.launcher)) : std::string();
    return {1, Source::kEnvironment,
            fill("{}{}; FASTTRAIN_THREADS={} would use {}", setting, by, decision.value,
                 decision.reason)};
  }
  return {*threads, Source::kEnvironment, setting};
}

}  // namespace libtrain
