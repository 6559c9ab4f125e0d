#include <algorithm>
#include <array>
#include <utility>

#include "libtrain/core/text.hpp"
#include "libtrain/doctor/check.hpp"
#include "libtrain/plan/capability.hpp"
#include "libtrain/plan/compiled_target.hpp"
#include "libtrain/plan/version.hpp"

namespace libtrain {
namespace {

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// How a container is given the GPUs of its machine.
std::string access_to_gpus(const std::string& runtime) {
  if (runtime == "kubernetes") {
    return "give the pod a GPU: a limit of nvidia.com/gpu";
  }
  return "start the container with access to the GPU: " +
         std::string(runtime == "apptainer" ? "apptainer exec --nv"
                     : runtime == "podman"  ? "podman run --device nvidia.com/gpu=all"
                                            : "docker run --gpus all");
}

/// What to do about a driver's own words (CUDA Driver API, CUresult; nvml.h, nvmlReturn_t).
std::string remedy_of(const std::string& problem, const HostFacts& host) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kRemedies{{
      {"NVML error 18", "reboot: the driver's library was updated under the loaded kernel module"},
      {"CUDA error 803",
       "reboot after a driver update; else take stub and compat folders out of "
       "LD_LIBRARY_PATH"},
      {"CUDA error 802",
       "sudo systemctl start nvidia-fabricmanager, of exactly the driver's version"},
      {"CUDA error 804",
       "take the cuda-compat folder out of LD_LIBRARY_PATH: this GPU's driver does "
       "not accept it"},
      {"CUDA error 999", "sudo rmmod nvidia_uvm && sudo modprobe nvidia_uvm"},
      {"NVML error 17",
       "allow the process /dev/nvidia*: the device cgroup blocks it; under WSL: wsl "
       "--shutdown"},
      {"NVML error 9", "sudo modprobe nvidia; dmesg | grep NVRM tells why it does not load"},
  }};
  for (const auto& [mark, remedy] : kRemedies) {
    if (contains(problem, mark)) {
      return std::string(remedy);
    }
  }
  if (contains(problem, "cannot be loaded")) {
    return host.container == true ? access_to_gpus(host.container_runtime.value_or(""))
                                  : "install the NVIDIA driver, then reboot";
  }
  return "nvidia-smi; dmesg | grep NVRM";
}

/// What mends a GPU that the kernel modules at hand leave out (NVIDIA, Open Linux Kernel Modules:
/// Blackwell and Grace Hopper need the open ones, Maxwell to Volta the others).
std::string module_remedy(const std::string& needed) {
  return needed == "open" ? "install the open kernel modules (Ubuntu: nvidia-driver-580-open; "
                            "installer: --kernel-module-type=open), then reboot"
                          : "install the proprietary kernel modules (installer: "
                            "--kernel-module-type=proprietary), then reboot";
}

Outcome check_listing(const Examined& seen) {
  const GpuDriverFacts& driver = seen.machine.gpu_driver;
  const std::string version = driver.driver_version ? quote(*driver.driver_version) : "unknown";
  if (driver.problem && !driver.problem->starts_with("CUDA_VISIBLE_DEVICES")) {
    return fail(quote(*driver.problem, 300), "no GPU can be used: training runs on the CPU",
                driver.module_refusal ? module_remedy(*driver.module_refusal)
                                      : remedy_of(*driver.problem, seen.machine.host));
  }
  if (!seen.machine.gpus.empty()) {
    return pass(fill("driver {} lists {}", version, seen.machine.gpus.size()));
  }
  if (driver.driver_version) {
    return fail(fill("driver {} is loaded and lists no GPU", version),
                "no GPU can be used: training runs on the CPU",
                driver.module_refusal
                    ? module_remedy(*driver.module_refusal)
                    : "dmesg | grep NVRM; a Blackwell or Grace Hopper GPU needs the open kernel "
                      "modules, Volta the proprietary ones");
  }
  return skip("no NVIDIA GPU and no driver");
}

Outcome check_cuda_build(const Examined& seen) {
  const LibraryFacts& library = seen.machine.library;
  if (seen.machine.gpus.empty()) {
    return skip("no GPU");
  }
  if (!library.torch_version) {
    return skip("this build has no LibTorch");
  }
  const std::string torch = quote(*library.torch_version);
  if (library.cuda_version) {
    return pass(fill("LibTorch {} is a CUDA {} build", torch, *library.cuda_version));
  }
  return fail(fill("{} is here, LibTorch {} is a CPU-only build",
                   name_of(seen.machine.gpus.front()), torch),
              "the GPU is not used: training runs on the CPU",
              "pip install --force-reinstall torch from PyPI, whose x86-64 wheels have CUDA, then "
              "configure and build libtrain again");
}

Outcome check_cuda_start(const Examined& seen) {
  const GpuDriverFacts& driver = seen.machine.gpu_driver;
  if (!driver.cuda_starts) {
    return skip("no GPU was listed to start it for, or it did not answer within 0.9 s");
  }
  if (*driver.cuda_starts) {
    return pass("CUDA starts");
  }
  const std::string problem = driver.cuda_problem.value_or("unknown");
  return fail(fill("GPUs are listed, and CUDA does not start: {}", quote(problem, 300)),
              "training on a GPU ends with that error",
              contains(problem, "libcuda") && seen.machine.host.container == true
                  ? "start the container with NVIDIA_DRIVER_CAPABILITIES=compute,utility"
                  : remedy_of(problem, seen.machine.host));
}

/// Smallest drivers that serve every CUDA of a major version (CUDA Compatibility guide, "Minor
/// Version Compatibility").
std::string driver_for(int cuda_major) {
  switch (cuda_major) {
    case 11:
      return "450.80.02";
    case 12:
      return "525.60.13";
    case 13:
      return "580.65.06";
    default:
      return fill("that serves CUDA {}", cuda_major);
  }
}

Outcome check_cuda_version(const Examined& seen) {
  const auto served = parse_version(seen.machine.gpu_driver.driver_cuda_version);
  const auto needed = parse_version(seen.machine.library.cuda_version);
  if (!served || !needed) {
    return skip(needed ? "the driver's CUDA version is unknown" : "this build has no CUDA");
  }
  const std::string found =
      fill("the driver serves CUDA {}, LibTorch is built for {}",
           *seen.machine.gpu_driver.driver_cuda_version, *seen.machine.library.cuda_version);
  if (served->major < needed->major) {
    return fail(found, "CUDA does not start (error 35): training runs on the CPU",
                fill("install driver {} or newer, or a LibTorch built for CUDA {}",
                     driver_for(needed->major), served->major));
  }
  if (served->major == needed->major && served->minor < needed->minor) {
    return pass(found + ": the same major version, so machine code runs");
  }
  return pass(found);
}

/// Where a LibTorch with code for `capability` comes from.
std::string wheel_for(ComputeCapability capability) {
  if (capability >= ComputeCapability{5, 0} && capability < ComputeCapability{7, 5}) {
    return "pip install torch==2.14.1 --index-url https://download.pytorch.org/whl/cu126, the last "
           "with code for this GPU, and configure libtrain again; driver branch R580 is the last "
           "that serves it";
  }
  return fill("build LibTorch with TORCH_CUDA_ARCH_LIST={}, or install a newer one",
              to_text(capability));
}

/// The targets a GPU runs, and the GPUs that run none or PTX alone.
Outcome check_targets(const Examined& seen) {
  const LibraryFacts& library = seen.machine.library;
  const auto gpus = visible_gpus(seen.machine);
  if (gpus.empty() || !library.cuda_archs) {
    return skip(gpus.empty() ? "no visible GPU" : "the build's compiled targets are unknown");
  }
  const std::optional<Version> cuda = parse_version(library.cuda_version);
  const std::string compiled = quote(join(*library.cuda_archs, " "), 200);
  std::vector<std::string> served;
  for (const GpuFacts* gpu : gpus) {
    if (!gpu->compute_capability) {
      continue;
    }
    const std::string who = fill("{}, {}", name_of(*gpu), describe(*gpu->compute_capability));
    const auto target = serving_target(*library.cuda_archs, *gpu->compute_capability, cuda);
    if (!target) {
      return fail(fill("{}, but LibTorch holds code for {} only, and no PTX it could compile", who,
                       compiled),
                  "every kernel fails (error 209): training runs on the CPU",
                  wheel_for(*gpu->compute_capability));
    }
    const bool ptx = target->starts_with("compute_") ||
                     (target->ends_with("+PTX") &&
                      parse_compute_capability(*target)->major != gpu->compute_capability->major);
    if (ptx) {
      return warn_of(fill("{}, runs the PTX of {} only", who, quote(*target)),
                     "the driver compiles every kernel at first use, which takes minutes and is "
                     "slower than native code; a driver older than the build's CUDA refuses it "
                     "(error 222)",
                     wheel_for(*gpu->compute_capability));
    }
    served.push_back(fill("{} runs {}", who, quote(*target)));
  }
  return served.empty() ? skip("no compute capability is known") : pass(join(served, "; "));
}

Outcome check_fabric(const Examined& seen) {
  const auto judge = [](const GpuFacts& gpu) {
    if (!gpu.fabric || *gpu.fabric == "completed") {
      return gpu.fabric ? fine() : unknown();
    }
    return fail(fill("NVSwitch fabric of {}: {}", name_of(gpu), quote(*gpu.fabric)),
                "CUDA does not start (error 802)",
                "sudo systemctl start nvidia-fabricmanager, of exactly the driver's version; its "
                "log names what is missing");
  };
  return judge_each(visible_gpus(seen.machine), judge, "NVSwitch fabric: completed on every GPU",
                    "no NVSwitch fabric");
}

Outcome check_cudnn(const Examined& seen) {
  constexpr Version kLastSlow{9, 15, 0};  // see plan/choose_attention.hpp
  const auto cudnn = parse_version(seen.machine.library.cudnn_version);
  const auto gpus = visible_gpus(seen.machine);
  const bool gains = std::ranges::any_of(gpus, [](const GpuFacts* gpu) {
    return gpu->compute_capability &&
           (gpu->compute_capability->major == 9 || gpu->compute_capability->major == 10);
  });
  if (!gains || !cudnn) {
    return skip(gains ? "the version of cuDNN is unknown"
                      : "cuDNN's attention comes first on compute capability 9.x and 10.x only");
  }
  const std::string found = fill("cuDNN {}", *seen.machine.library.cudnn_version);
  if (*cudnn > kLastSlow) {
    return pass(found);
  }
  return warn_of(
      found + " is not newer than 9.15.0",
      "LibTorch puts flash attention before cuDNN's on this GPU",
      "install a LibTorch built for CUDA 13, from 2.11 on: it brings cuDNN 9.19 or newer");
}

/// "/usr/lib/libnccl.so.2" → "libnccl".
std::string_view library_name(std::string_view file) {
  const std::string_view name = file.substr(file.rfind('/') + 1);
  return name.substr(0, name.find(".so"));
}

Outcome check_loaded(const Examined& seen) {
  const auto& files = seen.machine.library.loaded;
  if (!files || files->empty()) {
    return skip("this process has loaded neither NCCL nor cuDNN");
  }
  for (size_t i = 0; i < files->size(); ++i) {
    for (size_t j = i + 1; j < files->size(); ++j) {
      if (library_name((*files)[i]) == library_name((*files)[j])) {
        return fail(fill("{} is loaded twice: {} and {}", library_name((*files)[i]),
                         quote((*files)[i]), quote((*files)[j])),
                    "which one answers is chance; versions that do not fit crash or hang",
                    "take the folder of one out of LD_LIBRARY_PATH and LD_PRELOAD, and keep one "
                    "PyTorch in the environment");
      }
    }
  }
  return pass("each once: " + join(*files, ", "));
}

constexpr std::array kChecks{
    Check{"driver.listing", "can the driver list the GPUs", check_listing},
    Check{"driver.cuda_build", "was LibTorch built with CUDA", check_cuda_build},
    Check{"driver.cuda_start", "does CUDA start", check_cuda_start},
    Check{"driver.cuda_version", "does the driver serve LibTorch's CUDA", check_cuda_version},
    Check{"driver.targets", "does LibTorch hold code for each GPU", check_targets},
    Check{"driver.fabric", "is the NVSwitch fabric up", check_fabric},
    Check{"driver.cudnn", "is cuDNN new enough for its attention", check_cudnn},
    Check{"driver.loaded", "are NCCL and cuDNN loaded once", check_loaded},
};

}  // namespace

std::span<const Check> driver_checks() { return kChecks; }

}  // namespace libtrain
