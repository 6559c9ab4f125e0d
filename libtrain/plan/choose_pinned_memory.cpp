#include "libtrain/plan/choose_pinned_memory.hpp"

#include "libtrain/plan/target.hpp"

namespace libtrain {

Decision<bool> choose_pinned_memory(const Request<bool>& asked, const DeviceChoice& device,
                                    const MachineFacts& machine) {
  if (asked.value) {
    return grant(asked);
  }
  if (device.type == DeviceType::kCpu) {
    return {false, Source::kFacts, "nothing is copied to a GPU"};
  }
  if (machine.host.wsl == true) {
    return {false, Source::kFacts, "WSL limits page-locked memory"};
  }
  const GpuFacts* gpu = find_gpu(machine, device.index);
  if (gpu != nullptr && shares_host_memory(*gpu)) {
    return {false, Source::kFacts, "GPU and host share their memory"};
  }
  return {true, Source::kFacts, "copies from page-locked memory run beside kernels"};
}

}  // namespace libtrain
