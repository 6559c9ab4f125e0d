#include <algorithm>
#include <array>

#include "libtrain/core/text.hpp"
#include "libtrain/doctor/check.hpp"

namespace libtrain {
namespace {

/// What Docker gives a container unless it is asked for more (docker run, --shm-size).
constexpr int64_t kDockerDefault = int64_t{64} << 20;
/// Of RLIMIT_MEMLOCK, since Linux 5.16; 64 KiB before.
constexpr int64_t kKernelDefault = int64_t{8} << 20;

Outcome check_shared_memory(const Examined& seen) {
  const HostFacts& host = seen.machine.host;
  if (!host.shared_memory_bytes) {
    return skip("the size of /dev/shm is unknown");
  }
  const int64_t size = *host.shared_memory_bytes;
  const int64_t free = host.shared_memory_free_bytes.value_or(size);
  const std::string found = fill("/dev/shm: {}, {} free", format_bytes(size), format_bytes(free));
  if (size > kDockerDefault && free > kDockerDefault) {
    return pass(found);
  }
  const bool shared = local_processes(seen.machine) > 1 || visible_gpus(seen.machine).size() > 1;
  const std::string mend = size > kDockerDefault
                               ? "rm /dev/shm files that ended jobs left behind: ls -l /dev/shm"
                           : host.container_runtime == "kubernetes"
                               ? "give the pod an emptyDir with medium Memory at /dev/shm"
                               : "docker run --ipc=host, or --shm-size=8g; Kubernetes: an emptyDir "
                                 "with medium Memory at /dev/shm";
  const std::string harm =
      "data workers end with a bus error, NCCL with \"No space left on device\"";
  return shared ? fail(found, harm, mend)
                : warn_of(found, harm + " as soon as either is used", mend);
}

Outcome check_locked_memory(const Examined& seen) {
  const auto& limit = seen.machine.host.locked_memory_bytes;
  if (seen.machine.network.infiniband.value_or(std::vector<std::string>{}).empty()) {
    return skip("no active InfiniBand port, which alone locks memory within this limit");
  }
  if (!limit) {
    return skip("the limit is unknown");
  }
  if (*limit == kUnlimited) {
    return pass("unlimited");
  }
  const std::string found = fill("locked memory: at most {}", format_bytes(*limit));
  const std::string mend =
      "ulimit -l unlimited; docker run --ulimit memlock=-1; systemd and Slurm: "
      "LimitMEMLOCK=infinity";
  return *limit <= kKernelDefault
             ? fail(found,
                    "InfiniBand cannot register its buffers: NCCL ends with \"ibv_reg_mr failed\"",
                    mend)
             : warn_of(found,
                       "InfiniBand registers more the more processes there are: NCCL may end "
                       "with \"ibv_reg_mr failed\"",
                       mend);
}

Outcome check_open_files(const Examined& seen) {
  constexpr int64_t kUsualDefault = 1024;  // of Linux: too few for data workers that share tensors
  const auto& limit = seen.machine.host.open_files;
  if (!limit) {
    return skip("the limit is unknown");
  }
  if (*limit > kUsualDefault) {
    return pass(*limit == kUnlimited ? "unlimited" : to_text(*limit));
  }
  return warn_of(
      fill("at most {} open files", *limit),
      "data workers that pass tensors by file descriptor end with \"Too many open files\"",
      "ulimit -n 65536; docker run --ulimit nofile=65536");
}

Outcome check_overcommit(const Examined& seen) {
  const auto& mode = seen.machine.host.overcommit_memory;
  if (!mode) {
    return skip("vm.overcommit_memory is unknown");
  }
  return *mode != 2 ? pass(fill("vm.overcommit_memory={}", *mode))
                    : warn_of("vm.overcommit_memory=2: memory is counted when it is reserved",
                              "starting data workers by fork fails with \"Cannot allocate memory\" "
                              "although memory is free",
                              "sudo sysctl vm.overcommit_memory=0");
}

/// A checkpoint passes through host memory, and can be as large as what it is taken from.
Outcome check_host_for_gpu(const Examined& seen) {
  const HostFacts& host = seen.machine.host;
  int64_t largest = 0;
  for (const GpuFacts* gpu : visible_gpus(seen.machine)) {
    largest = std::max(largest, gpu->memory_bytes.value_or(0));
  }
  if (largest == 0 || !host.memory_bytes) {
    return skip(largest == 0 ? "no visible GPU with memory of its own" : "host memory is unknown");
  }
  const int64_t limit = host.memory_limit_bytes.value_or(kUnlimited);
  const int64_t usable = std::min(*host.memory_bytes, limit);
  const std::string found =
      fill("host memory {}{}, GPU memory {}", format_bytes(usable),
           limit < *host.memory_bytes ? " by the cgroup's limit" : "", format_bytes(largest));
  return usable >= largest
             ? pass(found)
             : warn_of(
                   found,
                   "a model that fills the GPU cannot be saved or loaded: the process is killed "
                   "(exit 137)",
                   "raise the container's or job's memory (docker run --memory, sbatch --mem)");
}

Outcome check_allocator(const Examined& seen) {
  if (!seen.plan || seen.plan->device.value.type != DeviceType::kCpu) {
    return skip(seen.plan ? "the CPU's allocator is off a GPU step's path" : "no plan can be made");
  }
  const std::string* preload = variable(seen, "LD_PRELOAD");
  for (const std::string_view other : {"tcmalloc", "jemalloc", "mimalloc"}) {
    if (preload != nullptr && preload->find(other) != std::string::npos) {
      return pass(setting(seen, "LD_PRELOAD"));
    }
  }
  if (variable(seen, "MALLOC_TRIM_THRESHOLD_") != nullptr) {
    return pass(setting(seen, "MALLOC_TRIM_THRESHOLD_"));
  }
  const Decision<AllocatorSetting>& plan = seen.plan->allocator;
  if (plan.value != AllocatorSetting::kUnchanged) {
    return pass(fill("{}: {}", to_text(plan.value), plan.reason));
  }
  if (plan.source == Source::kDefault) {
    return skip(plan.reason);
  }
  return warn_of(
      fill("unchanged: {}", plan.reason),
      "freed tensors go back to the system and are cleared again: a CPU step took 2 to 18 % "
      "longer where it was measured",
      "eval \"$(fasttrain env)\", or LD_PRELOAD a tcmalloc");
}

constexpr std::array kChecks{
    Check{"memory.shm", "is there room to share memory", check_shared_memory},
    Check{"memory.locked", "can InfiniBand lock its buffers", check_locked_memory},
    Check{"memory.open_files", "may enough files be open", check_open_files},
    Check{"memory.overcommit", "can data workers be started", check_overcommit},
    Check{"memory.host_for_gpu", "does a checkpoint fit into the host", check_host_for_gpu},
    Check{"memory.allocator", "does malloc keep freed tensors", check_allocator},
};

}  // namespace

std::span<const Check> memory_checks() { return kChecks; }

}  // namespace libtrain
