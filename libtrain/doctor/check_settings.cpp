#include <algorithm>
#include <array>

#include "libtrain/core/text.hpp"
#include "libtrain/doctor/check.hpp"

namespace libtrain {
namespace {

bool is_set_to(const Examined& seen, std::string_view name, std::string_view value) {
  const std::string* text = variable(seen, name);
  return text != nullptr && *text == value;
}

Outcome check_peers_off(const Examined& seen) {
  std::vector<std::string> found;
  if (switched_on(seen, "NCCL_P2P_DISABLE")) {
    found.push_back(setting(seen, "NCCL_P2P_DISABLE"));
  }
  if (is_set_to(seen, "NCCL_P2P_LEVEL", "LOC") || is_set_to(seen, "NCCL_P2P_LEVEL", "0")) {
    found.push_back(setting(seen, "NCCL_P2P_LEVEL"));
  }
  if (found.empty()) {
    return pass("peer traffic between GPUs is not switched off");
  }
  const std::string which = join(found, ", ");
  return visible_gpus(seen.machine).size() < 2
             ? skip(which + ", but there are fewer than two visible GPUs")
             : warn_of(which,
                       "it switches all traffic between GPUs off, NVLink included, and forces "
                       "nothing: gradients pass through host memory",
                       "unset NCCL_P2P_DISABLE NCCL_P2P_LEVEL; if peer copies hang here, see "
                       "link.iommu");
}

Outcome check_shared_memory_off(const Examined& seen) {
  if (!switched_on(seen, "NCCL_SHM_DISABLE")) {
    return pass("NCCL may use shared memory");
  }
  return warn_of(setting(seen, "NCCL_SHM_DISABLE"),
                 "GPUs without peer access talk over the network stack, within one machine too",
                 "unset NCCL_SHM_DISABLE; if /dev/shm is too small, see memory.shm");
}

Outcome check_nccl_forced(const Examined& seen) {
  std::vector<std::string> found;
  std::vector<std::string> names;
  for (const std::string name : {"NCCL_ALGO", "NCCL_PROTO", "NCCL_NTHREADS", "NCCL_MAX_NCHANNELS",
                                 "NCCL_MIN_NCHANNELS", "NCCL_BUFFSIZE"}) {
    if (variable(seen, name) != nullptr) {
      found.push_back(setting(seen, name));
      names.push_back(name);
    }
  }
  return found.empty() ? pass("NCCL chooses algorithm, protocol and channels")
                       : warn_of(join(found, ", "),
                                 "NCCL uses it for every size, also where another is faster; its "
                                 "guide advises against it but for debugging",
                                 "unset " + join(names, " "));
}

/// OpenMP binds its first thread too, and what that thread starts inherits the mask (pytorch issue
/// 91989).
Outcome check_binding(const Examined& seen) {
  std::string found;
  const std::string* bind = variable(seen, "OMP_PROC_BIND");
  if (bind != nullptr && parse_bool(*bind) != std::optional(false)) {
    found = setting(seen, "OMP_PROC_BIND");
  } else if (variable(seen, "GOMP_CPU_AFFINITY") != nullptr) {
    found = setting(seen, "GOMP_CPU_AFFINITY");
  }
  if (found.empty()) {
    return pass("OpenMP does not bind threads");
  }
  const bool several = local_processes(seen.machine) > 1;
  return warn_of(
      found,
      several ? "every process binds its threads to the same first cores, while others idle"
              : "the main thread stays on one core, and so do the data workers it starts",
      several ? "unset it, and bind whole processes: numactl, or Slurm's --cpu-bind=cores"
              : "unset it; the threads that libtrain starts need no binding");
}

struct Pair {
  std::string_view first;
  std::string_view second;
  std::string_view first_wins;
};

/// Variables of the same meaning: which one counts when both are set.
constexpr std::array kSame{
    Pair{"MKL_NUM_THREADS", "OMP_NUM_THREADS",
         "matrix products use MKL's count, all else OpenMP's"},
    Pair{"PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF", "LibTorch reads the CUDA one alone"},
};

Outcome check_contradictions(const Examined& seen) {
  for (const auto& [first, second, wins] : kSame) {
    const std::string* a = variable(seen, first);
    const std::string* b = variable(seen, second);
    if (a != nullptr && b != nullptr && *a != *b) {
      return warn_of(fill("{} and {}", setting(seen, first), setting(seen, second)),
                     std::string(wins), fill("unset one of {} and {}", first, second));
    }
  }
  if (is_set_to(seen, "NVIDIA_TF32_OVERRIDE", "0") &&
      is_set_to(seen, "FASTTRAIN_FP32_MATMUL", "tf32")) {
    return warn_of(fill("{} and {}", setting(seen, "NVIDIA_TF32_OVERRIDE"),
                        setting(seen, "FASTTRAIN_FP32_MATMUL")),
                   "the override counts: TF32 stays off", "unset NVIDIA_TF32_OVERRIDE");
  }
  return pass("no two settings contradict each other");
}

/// Options of torch 2.15 (c10/core/AllocatorConfig.h and c10/cuda/CUDAAllocatorConfig.h).
constexpr std::array<std::string_view, 20> kAllocatorOptions{"backend",
                                                             "expandable_segments",
                                                             "expandable_segments_reserve",
                                                             "expandable_segments_reserve_by_class",
                                                             "garbage_collection_threshold",
                                                             "graph_capture_record_stream_reuse",
                                                             "large_segment_size_mb",
                                                             "max_non_split_rounding_mb",
                                                             "max_split_size_mb",
                                                             "per_process_memory_fraction",
                                                             "pinned_free_catch_all",
                                                             "pinned_max_cached_size_mb",
                                                             "pinned_max_round_threshold_mb",
                                                             "pinned_num_register_threads",
                                                             "pinned_reserve_segment_size_mb",
                                                             "pinned_use_background_threads",
                                                             "pinned_use_cuda_host_register",
                                                             "release_lock_on_cudamalloc",
                                                             "roundup_power2_divisions",
                                                             "throw_on_cudamalloc_oom"};

/// The names of "a:1,b:[64:8,256:4]": a comma within brackets belongs to a value.
std::vector<std::string_view> option_names(std::string_view text) {
  std::vector<std::string_view> names;
  int depth = 0;
  size_t start = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    if (c == ',' && depth <= 0) {
      const std::string_view option = trim(text.substr(start, i - start));
      if (!option.empty()) {
        names.push_back(trim(option.substr(0, option.find(':'))));
      }
      start = i + 1;
    }
  }
  return names;
}

Outcome check_allocator_options(const Examined& seen) {
  const std::string_view name = variable(seen, "PYTORCH_CUDA_ALLOC_CONF") != nullptr
                                    ? "PYTORCH_CUDA_ALLOC_CONF"
                                    : "PYTORCH_ALLOC_CONF";
  const std::string* text = variable(seen, name);
  if (text == nullptr) {
    return skip("neither PYTORCH_CUDA_ALLOC_CONF nor PYTORCH_ALLOC_CONF is set");
  }
  for (const std::string_view option : option_names(*text)) {
    if (std::ranges::find(kAllocatorOptions, option) == kAllocatorOptions.end()) {
      return fail(fill("{}: no option {}", setting(seen, name), quote(option)),
                  "LibTorch ends with \"Unrecognized key\" at the first tensor on the GPU",
                  fill("correct {}", name));
    }
  }
  const bool async = text->find("cudaMallocAsync") != std::string::npos;
  const bool expandable = text->find("expandable_segments:True") != std::string::npos;
  if (async && (expandable || text->find("max_split_size_mb") != std::string::npos)) {
    return warn_of(setting(seen, name), "backend:cudaMallocAsync ignores the other options",
                   "drop backend:cudaMallocAsync, or the others");
  }
  if (expandable && seen.machine.host.wsl == true) {
    return warn_of(setting(seen, name), "WSL lacks the driver calls for expandable segments",
                   "drop expandable_segments");
  }
  return pass(setting(seen, name));
}

/// ":SIZE:COUNT", one or more times, or ":0:0" (cuBLAS, "Results reproducibility").
bool is_workspace(std::string_view text) {
  const auto parts = split(text, ':');
  if (parts.size() < 3 || parts.size() % 2 == 0 || !parts[0].empty()) {
    return false;
  }
  return std::ranges::all_of(parts.begin() + 1, parts.end(), [](std::string_view number) {
    return parse_integer(number).value_or(-1) >= 0;
  });
}

Outcome check_workspace(const Examined& seen) {
  const std::string* text = variable(seen, "CUBLAS_WORKSPACE_CONFIG");
  if (text == nullptr) {
    return skip("CUBLAS_WORKSPACE_CONFIG is not set");
  }
  return is_workspace(*text) ? pass(setting(seen, "CUBLAS_WORKSPACE_CONFIG"))
                             : warn_of(setting(seen, "CUBLAS_WORKSPACE_CONFIG"),
                                       "cuBLAS cannot read it: results may differ between runs",
                                       "export CUBLAS_WORKSPACE_CONFIG=:4096:8");
}

constexpr std::array kChecks{
    Check{"settings.peers_off", "is traffic between GPUs switched off", check_peers_off},
    Check{"settings.shared_memory_off", "is NCCL's shared memory off", check_shared_memory_off},
    Check{"settings.nccl_forced", "may NCCL choose", check_nccl_forced},
    Check{"settings.binding", "does OpenMP bind threads", check_binding},
    Check{"settings.contradictions", "do settings contradict each other", check_contradictions},
    Check{"settings.allocator_options", "can LibTorch read its allocator's options",
          check_allocator_options},
    Check{"settings.workspace", "can cuBLAS read its workspace", check_workspace},
};

}  // namespace

std::span<const Check> settings_checks() { return kChecks; }

}  // namespace libtrain
