#include <algorithm>
#include <array>

#include "libtrain/core/text.hpp"
#include "libtrain/doctor/check.hpp"

namespace libtrain {
namespace {

bool is_mig(const GpuFacts* gpu) { return gpu->mig_instance == true; }

Outcome check_reachable(const Examined& seen) {
  if (seen.machine.gpus.empty()) {
    return skip("no GPU");
  }
  if (seen.machine.gpu_driver.problem) {
    return skip("the driver lists no GPU: see driver.listing");
  }
  for (const GpuFacts& gpu : seen.machine.gpus) {
    if (gpu.problem) {
      const bool lost = gpu.problem->find("NVML error 15") != std::string::npos ||
                        gpu.problem->find("NVML error 999") != std::string::npos;
      return fail(
          fill("{}: {}", name_of(gpu), *gpu.problem), "this GPU cannot be trained on",
          lost ? "dmesg | grep Xid; reboot; if it is lost again (Xid 79), reseat or replace it"
               : fill("sudo nvidia-smi --gpu-reset -i {}; dmesg | grep Xid", nvml_name(gpu)));
    }
  }
  return pass(fill("{} of {} answer", seen.machine.gpus.size(), seen.machine.gpus.size()));
}

Outcome check_visible(const Examined& seen) {
  const auto& variable = seen.machine.gpu_driver.visible_devices;
  if (!variable || seen.machine.gpus.empty()) {
    return skip(variable ? "no GPU" : "CUDA_VISIBLE_DEVICES is not set");
  }
  const auto gpus = visible_gpus(seen.machine);
  const std::string setting = fill("CUDA_VISIBLE_DEVICES={}", quote(*variable));
  if (gpus.empty()) {
    return warn_of(setting + " hides every GPU", "training runs on the CPU",
                   "unset CUDA_VISIBLE_DEVICES, or name GPUs that are there");
  }
  const size_t named = split(*variable, ',').size();
  if (std::ranges::any_of(gpus, is_mig)) {
    return named <= 1
               ? pass(setting)
               : warn_of(fill("{} names {} devices, one MIG instance is used", setting, named),
                         "CUDA gives a process one MIG instance",
                         "start one process for each instance, each with its own "
                         "CUDA_VISIBLE_DEVICES");
  }
  if (gpus.size() < named) {
    return warn_of(fill("{} names {} devices, CUDA uses {}", setting, named, gpus.size()),
                   "CUDA reads the list up to the first entry that names no device",
                   "compare it with nvidia-smi -L");
  }
  return pass(fill("{}: {}", setting, gpus.size()));
}

Outcome check_alike(const Examined& seen) {
  const auto gpus = sound_gpus(seen.machine);
  if (gpus.size() < 2) {
    return skip("fewer than two visible GPUs that answer");
  }
  for (const GpuFacts* gpu : gpus) {
    const bool alike = gpu->name == gpus[0]->name && gpu->mig_profile == gpus[0]->mig_profile &&
                       gpu->compute_capability == gpus[0]->compute_capability;
    if (!alike) {
      return warn_of(fill("{} beside {}", name_of(*gpus[0]), name_of(*gpu)),
                     "data-parallel training runs at the pace and memory of the weakest GPU, and "
                     "the plan may differ between ranks",
                     "name GPUs of one kind in CUDA_VISIBLE_DEVICES");
    }
  }
  return pass(fill("{} of one kind", gpus.size()));
}

/// CUDA counts "fastest first" unless CUDA_DEVICE_ORDER says PCI_BUS_ID.
Outcome check_order(const Examined& seen) {
  const auto gpus = visible_gpus(seen.machine);
  if (gpus.size() < 2 || seen.machine.gpu_driver.visible_devices) {
    return skip(gpus.size() < 2 ? "fewer than two visible GPUs"
                                : "CUDA_VISIBLE_DEVICES orders them");
  }
  for (const GpuFacts* gpu : gpus) {
    if (gpu->nvml_index && gpu->nvml_index != gpu->cuda_index) {
      return warn_of(fill("CUDA's {} is nvidia-smi's GPU {}", name_of(*gpu), *gpu->nvml_index),
                     "an index read off nvidia-smi selects another GPU",
                     "export CUDA_DEVICE_ORDER=PCI_BUS_ID");
    }
  }
  return pass("CUDA and nvidia-smi count alike");
}

Outcome check_ranks(const Examined& seen) {
  const int processes = local_processes(seen.machine);
  const size_t gpus = visible_gpus(seen.machine).size();
  if (processes < 2 || gpus == 0) {
    return skip(gpus == 0 ? "no visible GPU" : "one process on this machine");
  }
  const std::string found = fill("{} processes on this machine, {} visible GPUs", processes, gpus);
  const bool one_each = gpus == 1 && seen.machine.gpu_driver.visible_devices;
  if (static_cast<size_t>(processes) <= gpus || one_each) {
    return pass(found);
  }
  return fail(found, "two ranks take the same GPU: NCCL ends with \"Duplicate GPU detected\"",
              fill("start at most {} processes here", gpus));
}

Outcome check_mig_ranks(const Examined& seen) {
  const auto gpus = visible_gpus(seen.machine);
  if (!std::ranges::any_of(gpus, is_mig)) {
    return skip("no MIG instance in use");
  }
  if (seen.machine.launch.world_size.value_or(1) < 2) {
    return pass("one process on one MIG instance");
  }
  return fail(
      fill("{} processes, and MIG instances", *seen.machine.launch.world_size),
      "MIG instances have no peer access, over PCIe or NVLink, and NCCL before 2.32 takes no "
      "two instances of one GPU",
      "train with one process, or sudo nvidia-smi -mig 0 and use whole GPUs");
}

Outcome check_compute_mode(const Examined& seen) {
  const auto judge = [](const GpuFacts& gpu) {
    const std::string mode = gpu.compute_mode.value_or("");
    const std::string mend = fill("sudo nvidia-smi -i {} -c DEFAULT", nvml_name(gpu));
    if (mode == "prohibited") {
      return fail(name_of(gpu) + ": compute mode prohibited", "CUDA refuses every process", mend);
    }
    if (mode == "exclusive process") {
      return warn_of(
          name_of(gpu) + ": compute mode exclusive process",
          "a second process on it, such as a data worker or an evaluation, gets \"device "
          "busy\" (error 46)",
          mend);
    }
    return mode.empty() ? unknown() : fine();
  };
  return judge_each(visible_gpus(seen.machine), judge, "default on every visible GPU",
                    "no visible GPU tells it");
}

constexpr std::array kChecks{
    Check{"gpu.reachable", "does every GPU answer", check_reachable},
    Check{"gpu.visible", "does CUDA_VISIBLE_DEVICES mean what it says", check_visible},
    Check{"gpu.alike", "are the GPUs of one kind", check_alike},
    Check{"gpu.order", "does CUDA count as nvidia-smi does", check_order},
    Check{"gpu.ranks", "has each process its GPU", check_ranks},
    Check{"gpu.mig_ranks", "can MIG instances train together", check_mig_ranks},
    Check{"gpu.compute_mode", "may processes share a GPU", check_compute_mode},
};

}  // namespace

std::span<const Check> gpu_checks() { return kChecks; }

}  // namespace libtrain
