#include "libtrain/plan/choose_backend.hpp"

#include "libtrain/plan/target.hpp"
#include "libtrain/plan/version.hpp"

namespace libtrain {

Decision<CommBackend> choose_backend(const Request<CommBackend>& asked, const DeviceChoice& device,
                                     const MachineFacts& machine) {
  constexpr Version kTakesInstances{2, 32, 0};
  const bool cpu = device.type == DeviceType::kCpu;
  const int ranks = machine.launch.world_size.value_or(1);
  if (asked.value) {
    if (*asked.value == CommBackend::kNccl && cpu) {
      refuse("backend", "nccl", asked.origin, "NCCL moves GPU memory only", "ask for gloo");
    }
    if (*asked.value == CommBackend::kNone && ranks > 1) {
      refuse("backend", "none", asked.origin, fill("there are {} processes", ranks),
             "start one process");
    }
    return grant_later(asked);
  }
  if (ranks < 2) {
    return {CommBackend::kNone, Source::kFacts, "one process"};
  }
  if (cpu) {
    return {CommBackend::kGloo, Source::kFacts, "NCCL moves GPU memory only"};
  }
  const GpuFacts* gpu = find_gpu(machine, device.index);
  const auto version = parse_version(machine.library.nccl_version);
  if (gpu != nullptr && gpu->mig_instance == true && (!version || *version < kTakesInstances)) {
    return {CommBackend::kGloo, Source::kFacts,
            "NCCL before 2.32 takes no two MIG instances of one GPU"};
  }
  return {CommBackend::kNccl, Source::kFacts, "each rank has a GPU"};
}

}  // namespace libtrain
