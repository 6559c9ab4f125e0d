#include <algorithm>
#include <array>

#include "libtrain/core/text.hpp"
#include "libtrain/doctor/check.hpp"
#include "libtrain/plan/target.hpp"

namespace libtrain {
namespace {

bool has_reason(const GpuFacts& gpu, std::string_view reason) {
  return gpu.clock_reasons &&
         std::ranges::find(*gpu.clock_reasons, reason) != gpu.clock_reasons->end();
}

Outcome check_memory_errors(const Examined& seen) {
  const auto judge = [](const GpuFacts& gpu) {
    if (gpu.ecc_uncorrected.value_or(0) > 0) {
      return fail(
          fill("{}: {} uncorrected ECC errors since the driver was loaded", name_of(gpu),
               *gpu.ecc_uncorrected),
          "a job that touches the bad memory is killed (Xid 48, 63, 94, 95)",
          fill("stop the jobs on it, sudo nvidia-smi --gpu-reset -i {}; replace the card if "
               "the errors come back",
               nvml_name(gpu)));
    }
    return gpu.ecc_uncorrected ? fine() : unknown();
  };
  return judge_each(visible_gpus(seen.machine), judge, "no uncorrected ECC error",
                    "no visible GPU counts ECC errors");
}

Outcome check_repairs(const Examined& seen) {
  const auto judge = [](const GpuFacts& gpu) {
    if (gpu.repair_failed == true) {
      return fail(name_of(gpu) + ": a memory row could not be remapped, no spare is left",
                  "errors in that row will come back", "replace the card");
    }
    if (gpu.repair_pending == true) {
      return warn_of(
          name_of(gpu) + ": a memory repair is pending",
          "the bad row or page stays in use until the GPU is reset",
          fill("when its jobs have ended: sudo nvidia-smi --gpu-reset -i {}", nvml_name(gpu)));
    }
    return gpu.repair_pending || gpu.repair_failed ? fine() : unknown();
  };
  return judge_each(visible_gpus(seen.machine), judge, "no memory repair pending",
                    "no visible GPU tells it");
}

/// What NVIDIA's "XID Errors" lays to the program that ran, not to the GPU.
bool is_the_programs(std::string_view xid) {
  constexpr std::array<std::string_view, 4> kNumbers{"13", "31", "43", "45"};
  return std::ranges::find(kNumbers, xid) != kNumbers.end();
}

/// What it answers by a reset, a restart or another card: memory errors that could not be kept from
/// a program or mended (48, 64, 95), a card that fell off the bus (79), a GPU whose own processor
/// is silent (119, 120), and the driver's own call for a reset (154).
bool needs_a_reset(std::string_view xid) {
  constexpr std::array<std::string_view, 7> kNumbers{"48", "64", "79", "95", "119", "120", "154"};
  return std::ranges::find(kNumbers, xid) != kNumbers.end();
}

Outcome check_xids(const Examined& seen) {
  if (seen.machine.gpus.empty()) {
    return skip("no GPU");
  }
  std::vector<const GpuFacts*> gpus;
  for (const GpuFacts& gpu : seen.machine.gpus) {
    gpus.push_back(&gpu);  // a GPU that is lost is not visible
  }
  const auto judge = [](const GpuFacts& gpu) {
    if (!gpu.xids) {
      return unknown();
    }
    const auto grave = std::ranges::find_if(*gpu.xids, needs_a_reset);
    const std::string found = fill("{}: Xid {}", name_of(gpu), join(*gpu.xids, ", "));
    if (grave != gpu.xids->end()) {
      return fail(found, fill("Xid {} lasts until the GPU is reset: jobs on it fail", *grave),
                  fill("dmesg | grep Xid; sudo nvidia-smi --gpu-reset -i {}, else reboot; replace "
                       "the card if it comes back",
                       nvml_name(gpu)));
    }
    return std::ranges::all_of(*gpu.xids, is_the_programs)
               ? fine()
               : warn_of(found, "the driver met an error on this GPU since the machine was started",
                         "dmesg | grep Xid; look the number up in NVIDIA's \"XID Errors\"");
  };
  return judge_each(gpus, judge, "none in the kernel's log but what programs cause",
                    "the kernel's log may not be read: sudo fasttrain doctor --only gpu");
}

Outcome check_temperature(const Examined& seen) {
  const auto judge = [](const GpuFacts& gpu) {
    if (!gpu.temperature_celsius || !gpu.slowdown_celsius) {
      return unknown();
    }
    return *gpu.temperature_celsius < *gpu.slowdown_celsius
               ? fine()
               : warn_of(fill("{}: {} °C, slowed from {} °C on", name_of(gpu),
                              *gpu.temperature_celsius, *gpu.slowdown_celsius),
                         "the GPU lowers its clocks until it is cooler",
                         "improve its cooling; check fans and filters; lower the power limit: "
                         "sudo nvidia-smi -pl WATTS");
  };
  return judge_each(visible_gpus(seen.machine), judge, "below what slows the clocks",
                    "no visible GPU tells it");
}

/// Why clocks are low means something under load alone: an idle GPU reports slowdowns and power
/// caps that are none.
Outcome check_slowdown(const Examined& seen) {
  const auto judge = [](const GpuFacts& gpu) {
    if (is_idle(gpu)) {
      return unknown();
    }
    const std::string reasons = join(*gpu.clock_reasons, ", ");
    if (has_reason(gpu, "power brake")) {
      return fail(fill("{} is slowed: {}", name_of(gpu), reasons),
                  "the power supply holds the clocks at a fraction of their rate",
                  "check power supply and cables; nvidia-smi -q -d PERFORMANCE");
    }
    if (has_reason(gpu, "hardware thermal") || has_reason(gpu, "software thermal") ||
        has_reason(gpu, "hardware slowdown")) {
      return warn_of(
          fill("{} is slowed: {}", name_of(gpu), reasons),
          "steps take longer as long as this lasts",
          "improve its cooling, or lower the power limit to what it can cool; nvidia-smi "
          "-q -d TEMPERATURE,PERFORMANCE");
    }
    return fine();
  };
  return judge_each(visible_gpus(seen.machine), judge,
                    "working GPUs are not slowed by heat or power supply",
                    "every visible GPU is idle or does not tell");
}

Outcome check_power_limit(const Examined& seen) {
  const auto judge = [](const GpuFacts& gpu) {
    if (!gpu.power_limit_watts || !gpu.power_default_watts) {
      return unknown();
    }
    return *gpu.power_limit_watts >= *gpu.power_default_watts - 0.5
               ? fine()
               : warn_of(fill("{}: power limit {} W, by default {} W", name_of(gpu),
                              *gpu.power_limit_watts, *gpu.power_default_watts),
                         "clocks fall under load once the limit is reached",
                         fill("sudo nvidia-smi -i {} -pl {}", nvml_name(gpu),
                              *gpu.power_default_watts));
  };
  return judge_each(visible_gpus(seen.machine), judge, "at or above the default everywhere",
                    "no visible GPU tells it");
}

Outcome check_persistence(const Examined& seen) {
  if (seen.machine.host.wsl == true) {
    return skip("Windows keeps the driver loaded");
  }
  const auto judge = [](const GpuFacts& gpu) {
    if (gpu.persistence == false) {
      return warn_of(
          name_of(gpu) + ": persistence mode off",
          "the driver unloads when no process uses the GPU: each start waits for it, and "
          "limits set by nvidia-smi are lost",
          "sudo systemctl enable --now nvidia-persistenced");
    }
    return gpu.persistence ? fine() : unknown();
  };
  return judge_each(visible_gpus(seen.machine), judge, "on", "no visible GPU tells it");
}

/// Drivers keep up to 9 % for themselves (a virtual GPU of 24 GiB), so more in use is another
/// job's. Of the host's memory, where the GPU has none of its own, the system keeps more.
Outcome check_memory_free(const Examined& seen) {
  const HostFacts& host = seen.machine.host;
  const auto judge = [&](const GpuFacts& gpu) {
    const bool shared = shares_host_memory(gpu);
    const auto& total = shared ? host.memory_bytes : gpu.memory_bytes;
    const auto& free = shared ? host.memory_available_bytes : gpu.memory_free_bytes;
    if (!total || !free) {
      return unknown();
    }
    const double enough = shared ? 0.5 : 0.9;
    if (static_cast<double>(*free) >= enough * static_cast<double>(*total)) {
      return fine();
    }
    return warn_of(fill("{}: {} of {}{} are free", name_of(gpu), format_bytes(*free),
                        format_bytes(*total), shared ? ", the host's memory," : ""),
                   "another process holds the rest: what fits by the plan may not fit now",
                   shared ? "ps --sort=-rss -eo pid,rss,comm | head"
                          : "nvidia-smi --query-compute-apps=pid,used_memory --format=csv; choose "
                            "another GPU with CUDA_VISIBLE_DEVICES");
  };
  return judge_each(visible_gpus(seen.machine), judge, "most of it is free everywhere",
                    "no visible GPU tells it");
}

/// NVIDIA, Virtual GPU Client Licensing User Guide.
Outcome check_license(const Examined& seen) {
  const auto judge = [](const GpuFacts& gpu) {
    if (gpu.virtual_gpu_licensed == false) {
      return warn_of(name_of(gpu) + ": the virtual GPU has no licence",
                     "the driver serves it in full for a short time after its start, then less and "
                     "less",
                     "nvidia-smi -q | grep -i licen; journalctl -u nvidia-gridd; put the client "
                     "token into /etc/nvidia/ClientConfigToken");
    }
    return gpu.virtual_gpu_licensed ? fine() : unknown();
  };
  return judge_each(visible_gpus(seen.machine), judge, "licensed", "no virtual GPU");
}

constexpr std::array kChecks{
    Check{"gpu.memory_errors", "is the GPU memory sound", check_memory_errors},
    Check{"gpu.repairs", "is a memory repair pending", check_repairs},
    Check{"gpu.xid", "has the driver met errors", check_xids},
    Check{"gpu.temperature", "is a GPU too hot", check_temperature},
    Check{"gpu.slowdown", "is a working GPU slowed", check_slowdown},
    Check{"gpu.power_limit", "is the power limit at its default", check_power_limit},
    Check{"gpu.persistence", "does the driver stay loaded", check_persistence},
    Check{"gpu.memory_free", "is the GPU memory free", check_memory_free},
    Check{"gpu.license", "has a virtual GPU its licence", check_license},
};

}  // namespace

std::span<const Check> gpu_health_checks() { return kChecks; }

}  // namespace libtrain
