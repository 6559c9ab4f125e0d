#include "libtrain/plan/choose_device.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "libtrain/core/require.hpp"
#include "libtrain/plan/capability.hpp"
#include "libtrain/plan/compiled_target.hpp"
#include "libtrain/plan/device_request.hpp"
#include "libtrain/plan/target.hpp"

namespace libtrain {
namespace {

/// A GPU to use and what speaks for it, or no GPU and what is missing.
struct Verdict {
  std::optional<int> index;
  std::string reason;
  Source source = Source::kFacts;
};

Verdict missing(std::string reason, Source source = Source::kFacts) {
  return {std::nullopt, std::move(reason), source};
}

std::string name_of(const GpuFacts& gpu) {
  std::string name = gpu.name ? quote(*gpu.name) : "an unnamed GPU";
  if (gpu.mig_instance == true) {
    name +=
        gpu.mig_profile ? fill(" (MIG instance {})", quote(*gpu.mig_profile)) : " (MIG instance)";
  }
  return name;
}

/// By CUDA's count, not by the order of the facts; there is one.
const GpuFacts& first_gpu(const std::vector<GpuFacts>& gpus) {
  const auto place = [](const GpuFacts& gpu) {
    constexpr int kLast = std::numeric_limits<int>::max();
    return std::pair(gpu.cuda_index.value_or(kLast), gpu.nvml_index.value_or(kLast));
  };
  return *std::ranges::min_element(gpus, {}, place);
}

int visible_gpus(const MachineFacts& machine) {
  return static_cast<int>(std::ranges::count_if(
      machine.gpus, [](const GpuFacts& gpu) { return gpu.cuda_index.has_value(); }));
}

std::string hidden_by(const GpuDriverFacts& driver) {
  return driver.visible_devices
             ? fill("CUDA_VISIBLE_DEVICES={} hides every GPU", quote(*driver.visible_devices))
             : "no GPU is visible to CUDA";
}

/// Why no GPU at all can be used; empty when one may be.
std::optional<Verdict> machine_obstacle(const MachineFacts& machine) {
  const LibraryFacts& library = machine.library;
  const GpuDriverFacts& driver = machine.gpu_driver;
  if (!library.cuda_version) {
    if (!library.torch_version) {
      return missing("the LibTorch of this build is unknown, so is its CUDA", Source::kDefault);
    }
    const std::string build =
        fill("LibTorch {} is a CPU-only build", quote(*library.torch_version));
    return missing(machine.gpus.empty()
                       ? build
                       : fill("found {}, but {}", name_of(first_gpu(machine.gpus)), build));
  }
  if (driver.problem) {
    return missing(fill("the NVIDIA driver has a problem: {}", quote(*driver.problem, 200)));
  }
  if (!driver.driver_version && machine.gpus.empty()) {
    return missing("no NVIDIA driver was found");
  }
  if (machine.gpus.empty()) {
    return missing("the NVIDIA driver lists no GPU");
  }
  if (visible_gpus(machine) == 0) {
    return missing(hidden_by(driver));
  }
  const std::optional<Version> served = parse_version(driver.driver_cuda_version);
  const std::optional<Version> needed = parse_version(library.cuda_version);
  if (served && needed && served->major < needed->major) {
    return missing(fill("driver {} serves CUDA up to {}, this build needs {}",
                        quote(driver.driver_version.value_or("unknown")),
                        *driver.driver_cuda_version, *library.cuda_version));
  }
  return std::nullopt;
}

/// The index of this process's GPU, or what is missing.
Verdict pick_index(const MachineFacts& machine) {
  const LaunchFacts& launch = machine.launch;
  const int visible = visible_gpus(machine);
  const int rank = std::max(launch.local_rank.value_or(0), 0);
  const int64_t processes =
      std::max<int64_t>(launch.local_world_size.value_or(1), int64_t{rank} + 1);
  if (processes <= visible) {
    return {rank, rank == 0 ? "" : fill(" of local rank {}", rank)};
  }
  if (visible == 1 && machine.gpu_driver.visible_devices) {
    return {0, fill(" left to local rank {} by CUDA_VISIBLE_DEVICES={}", rank,
                    quote(*machine.gpu_driver.visible_devices))};
  }
  return missing(fill("{} processes on this machine, visible GPUs: {}", processes, visible));
}

/// Whether the GPU `index` can run this build.
Verdict examine(const MachineFacts& machine, int index, const std::string& whose) {
  const GpuFacts* gpu = find_gpu(machine, index);
  if (gpu == nullptr) {
    return missing(fill("no visible GPU has the index {}", index));
  }
  const std::string name = name_of(*gpu) + whose;
  if (gpu->problem) {
    return missing(fill("{} has a problem: {}", name, quote(*gpu->problem, 200)));
  }
  if (gpu->fabric && *gpu->fabric != "completed") {
    return missing(fill("the NVSwitch fabric of {} is {}: CUDA does not start (error 802)", name,
                        quote(*gpu->fabric)));
  }
  if (gpu->compute_mode == "prohibited") {
    return missing(fill("{} is in compute mode \"prohibited\"", name));
  }
  if (!gpu->compute_capability) {
    return {index, fill("{}; its compute capability is unknown and was not checked", name)};
  }
  const std::string capability = describe(*gpu->compute_capability);
  if (!machine.library.cuda_archs) {
    return {index, fill("{}, {}; the targets of this build are unknown and were not checked", name,
                        capability)};
  }
  const std::vector<std::string>& targets = *machine.library.cuda_archs;
  const std::optional<std::string> target = serving_target(
      targets, *gpu->compute_capability, parse_version(machine.library.cuda_version));
  if (!target) {
    return missing(fill("{} has {}, this build was compiled for {} only", name, capability,
                        quote(join(targets, " "), 200)));
  }
  return {index, fill("{}, {}, runs this build's {}", name, capability, quote(*target))};
}

Verdict find_cuda(const MachineFacts& machine, std::optional<int> asked_index,
                  const std::string& origin) {
  if (std::optional<Verdict> obstacle = machine_obstacle(machine)) {
    return *obstacle;
  }
  if (asked_index) {
    const int visible = visible_gpus(machine);
    require(find_gpu(machine, *asked_index) != nullptr,
            "[plan.device] no such GPU: device=cuda:{} ({}), expected an index below {}; check "
            "CUDA_VISIBLE_DEVICES",
            *asked_index, origin, visible);
    return examine(machine, *asked_index, "");
  }
  const Verdict pick = pick_index(machine);
  return pick.index ? examine(machine, *pick.index, pick.reason) : pick;
}

}  // namespace

Decision<DeviceChoice> choose_device(const Request<std::string>& asked,
                                     const MachineFacts& machine) {
  if (!asked.value) {
    Verdict verdict = find_cuda(machine, std::nullopt, "");
    const DeviceChoice choice =
        verdict.index ? DeviceChoice{DeviceType::kCuda, *verdict.index} : DeviceChoice{};
    return {choice, verdict.source, std::move(verdict.reason)};
  }
  const std::optional<DeviceRequest> request = parse_device(*asked.value);
  require(request.has_value(), "[plan.device] no such device: device={}, expected {}",
          quote(*asked.value), kDeviceNames);
  if (request->type == DeviceType::kCpu) {
    return {DeviceChoice{}, asked.source, asked.origin};
  }
  Verdict verdict = find_cuda(machine, request->index, asked.origin);
  if (!verdict.index) {
    refuse("device", *asked.value, asked.origin, verdict.reason, "ask for cpu, or mend that");
  }
  return {DeviceChoice{DeviceType::kCuda, *verdict.index}, asked.source,
          fill("{}: {}", asked.origin, verdict.reason)};
}

}  // namespace libtrain
