#include <algorithm>
#include <array>

#include "libtrain/core/text.hpp"
#include "libtrain/doctor/check.hpp"
#include "libtrain/doctor/known_variables.hpp"
#include "libtrain/plan/nearest_name.hpp"

namespace libtrain {
namespace {

struct Meant {
  std::string_view wrong;
  std::string_view right;
};

/// Names that are often written and that nothing reads.
constexpr std::array kOftenMeant{
    Meant{"CUDA_DEVICES", "CUDA_VISIBLE_DEVICES"},
    Meant{"NCCL_DISABLE_IB", "NCCL_IB_DISABLE"},
    Meant{"NCCL_DISABLE_P2P", "NCCL_P2P_DISABLE"},
    Meant{"NCCL_IFNAME", "NCCL_SOCKET_IFNAME"},
    Meant{"NCCL_SOCKET_IFACE", "NCCL_SOCKET_IFNAME"},
    Meant{"OMP_THREADS", "OMP_NUM_THREADS"},
    Meant{"PYTORCH_CUDA_ARCH_LIST", "TORCH_CUDA_ARCH_LIST"},
    Meant{"PYTORCH_CUDA_ALLOCATOR_CONF", "PYTORCH_CUDA_ALLOC_CONF"},
    Meant{"TORCH_CUDA_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF"},
    Meant{"TORCH_CUDA_ARCH", "TORCH_CUDA_ARCH_LIST"},
};

/// What an unknown name most likely stands for: a known one at most two slips away.
std::string_view meant_by(std::string_view name) {
  constexpr size_t kSlips = 2;
  const auto* const often = std::ranges::find(kOftenMeant, name, &Meant::wrong);
  if (often != kOftenMeant.end()) {
    return often->right;
  }
  const std::string_view nearest = nearest_name(name, known_variables());
  return !nearest.empty() && edit_distance(name, nearest) <= kSlips ? nearest : std::string_view{};
}

Outcome check_names(const Examined& seen) {
  std::vector<std::string> wrong;
  std::vector<std::string> mend;
  for (const auto& [name, text] : seen.machine.launch.variables) {
    if (is_known_variable(name) || name.starts_with("FASTTRAIN_")) {
      continue;  // FASTTRAIN_ names are checked when the plan is made
    }
    if (const std::string_view right = meant_by(name); !right.empty()) {
      wrong.push_back(name);
      mend.push_back(fill("unset {}; export {}={}", name, right, quote(text)));
    }
  }
  return wrong.empty() ? pass(fill("of {} variables no name looks misspelt",
                                   seen.machine.launch.variables.size()))
                       : warn_of("nothing reads " + join(wrong, ", "), "the setting has no effect",
                                 join(mend, "; "));
}

/// Renamed by PyTorch 2.2 (torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp).
constexpr std::array kRenamed{
    Meant{"NCCL_ASYNC_ERROR_HANDLING", "TORCH_NCCL_ASYNC_ERROR_HANDLING"},
    Meant{"NCCL_BLOCKING_WAIT", "TORCH_NCCL_BLOCKING_WAIT"},
    Meant{"NCCL_DESYNC_DEBUG", "TORCH_NCCL_DESYNC_DEBUG"},
    Meant{"NCCL_ENABLE_TIMING", "TORCH_NCCL_ENABLE_TIMING"},
};

Outcome check_renamed(const Examined& seen) {
  for (const auto& [old_name, name] : kRenamed) {
    if (variable(seen, old_name) != nullptr && variable(seen, name) == nullptr) {
      return warn_of(
          fill("{} is called {} since PyTorch 2.2", setting(seen, old_name), name),
          "the old name is deprecated: a later version will not read it",
          fill("unset {}; export {}={}", old_name, name, quote(*variable(seen, old_name))));
    }
  }
  return pass("no old name is set");
}

/// Settings of another platform or library: they are read by nothing here.
Outcome check_without_effect(const Examined& seen) {
  const std::string* preload = variable(seen, "LD_PRELOAD");
  const bool intel_openmp = preload != nullptr && preload->find("omp5") != std::string::npos;
  for (const auto& [name, text] : seen.machine.launch.variables) {
    if (name == "PYTORCH_ENABLE_MPS_FALLBACK" || name.starts_with("PYTORCH_MPS_")) {
      return warn_of(setting(seen, name) + " concerns Apple's Metal alone",
                     "on this machine it has no effect", "unset " + name);
    }
    if (name.starts_with("KMP_") && name != "KMP_DUPLICATE_LIB_OK" && is_known_variable(name) &&
        !intel_openmp) {
      return warn_of(
          setting(seen, name) + " is read by Intel's OpenMP, LibTorch's wheels use GNU's",
          "it has no effect",
          fill("unset {}; GNU's names: OMP_PROC_BIND, OMP_PLACES, "
               "GOMP_SPINCOUNT",
               name));
    }
  }
  return pass("no setting of another platform");
}

struct Debugging {
  std::string_view name;
  std::string_view value;  ///< empty: any but 0
  std::string_view harm;
};

constexpr std::array kDebugging{
    Debugging{"CUDA_LAUNCH_BLOCKING", "", "every kernel is waited for: nothing overlaps"},
    Debugging{"PYTORCH_NO_CUDA_MEMORY_CACHING", "",
              "every tensor is a cudaMalloc and waits for the "
              "GPU"},
    Debugging{"TORCH_DISTRIBUTED_DEBUG", "DETAIL", "every collective is checked by another one"},
    Debugging{"NCCL_DEBUG", "TRACE", "every operation is logged"},
    Debugging{"NCCL_CHECK_POINTERS", "", "every buffer is checked before use"},
    Debugging{"ONEDNN_VERBOSE", "", "every operator is logged"},
    Debugging{"DNNL_VERBOSE", "", "every operator is logged"},
    Debugging{"MKL_VERBOSE", "", "every product is logged"},
    Debugging{"MALLOC_PERTURB_", "", "every allocation is filled with a pattern"},
    Debugging{"CUDA_FORCE_PTX_JIT", "",
              "every kernel is compiled at start, and fails where LibTorch "
              "holds no PTX"},
    Debugging{"CUDA_CACHE_DISABLE", "",
              "kernels compiled from PTX are compiled again at each start"},
};

Outcome check_debugging(const Examined& seen) {
  std::vector<std::string> found;
  std::vector<std::string> harm;
  std::vector<std::string> names;
  for (const Debugging& debugging : kDebugging) {
    const std::string* text = variable(seen, debugging.name);
    const bool on = text != nullptr && (debugging.value.empty() ? switched_on(seen, debugging.name)
                                                                : *text == debugging.value);
    if (on) {
      found.push_back(setting(seen, debugging.name));
      harm.emplace_back(debugging.harm);
      names.emplace_back(debugging.name);
    }
  }
  return found.empty() ? pass("no debugging setting is on")
                       : warn_of(join(found, ", "), join(harm, "; "), "unset " + join(names, " "));
}

/// libcuda.so.1 out of a toolkit's stubs folder answers nothing; one out of a compat folder suits
/// older drivers alone (CUDA Compatibility guide, "Forward Compatibility").
Outcome check_library_path(const Examined& seen) {
  const std::string* path = variable(seen, "LD_LIBRARY_PATH");
  if (path == nullptr) {
    return skip("LD_LIBRARY_PATH is not set");
  }
  for (const std::string_view folder : split(*path, ':')) {
    if (folder.ends_with("/stubs") || folder.find("/stubs/") != std::string_view::npos) {
      return fail(fill("LD_LIBRARY_PATH holds {}", quote(folder)),
                  "programs load a driver library that answers nothing: CUDA does not start",
                  "take that folder out: it is for linking only");
    }
    if (folder.find("/compat") != std::string_view::npos &&
        folder.find("cuda") != std::string_view::npos) {
      return warn_of(
          fill("LD_LIBRARY_PATH holds {}", quote(folder)),
          "its driver library works with older drivers of data-centre GPUs; elsewhere CUDA "
          "ends with error 803 or 804",
          "take that folder out unless the driver is older than it");
    }
  }
  return pass("no stub and no compat folder");
}

/// NVIDIA Container Toolkit, "Environment variables": without `compute` no CUDA, without `utility`
/// no NVML.
Outcome check_container(const Examined& seen) {
  const std::string* devices = variable(seen, "NVIDIA_VISIBLE_DEVICES");
  const std::string* capabilities = variable(seen, "NVIDIA_DRIVER_CAPABILITIES");
  if (seen.machine.host.container != true || (devices == nullptr && capabilities == nullptr)) {
    return skip("no NVIDIA container setting");
  }
  const bool none =
      devices != nullptr && (devices->empty() || *devices == "void" || *devices == "none");
  if (none) {
    return warn_of(setting(seen, "NVIDIA_VISIBLE_DEVICES"), "the container is given no GPU",
                   "docker run --gpus all; Kubernetes: a limit of nvidia.com/gpu");
  }
  if (capabilities != nullptr && *capabilities != "all") {
    const auto given = split(*capabilities, ',');
    for (const std::string_view needed : {"compute", "utility"}) {
      if (std::ranges::find(given, needed) == given.end()) {
        return fail(
            fill("{} lacks {}", setting(seen, "NVIDIA_DRIVER_CAPABILITIES"), needed),
            needed == "compute" ? "the container has no CUDA driver" : "the container has no NVML",
            "docker run -e NVIDIA_DRIVER_CAPABILITIES=compute,utility");
      }
    }
  }
  return pass("compute and utility, and a GPU");
}

constexpr std::array kChecks{
    Check{"environment.names", "is every variable's name read by something", check_names},
    Check{"environment.renamed", "are all names those of this version", check_renamed},
    Check{"environment.without_effect", "is a setting for another platform", check_without_effect},
    Check{"environment.debugging", "is a debugging aid left on", check_debugging},
    Check{"environment.library_path", "is the right driver library found", check_library_path},
    Check{"environment.container", "is the container given the GPU", check_container},
};

}  // namespace

std::span<const Check> environment_checks() { return kChecks; }

}  // namespace libtrain
