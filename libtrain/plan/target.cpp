#include "libtrain/plan/target.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "libtrain/core/text.hpp"
#include "libtrain/plan/capability.hpp"

namespace libtrain {
namespace {

/// "NVIDIA GeForce GTX 1660 Ti", "NVIDIA T1000": whole words, for T4 is another chip than T400.
bool is_small_turing(std::string_view name) {
  constexpr std::string_view kModels[] = {"T400",  "T500",  "T550",  "T600", "T1000",
                                          "T1200", "T2000", "MX450", "MX550"};
  std::string_view before;
  for (const std::string_view word : split(name, ' ')) {
    const bool gtx_16 = before == "GTX" && word.size() >= 4 && word.starts_with("16");
    if (gtx_16 || std::ranges::find(kModels, word) != std::end(kModels)) {
      return true;
    }
    before = word;
  }
  return false;
}

/// Four lower-case digits compare as their numbers do.
bool is_small_turing_id(std::string_view id) {
  return (id >= "1f81" && id <= "1fff") || (id >= "2180" && id <= "21ff");
}

}  // namespace

const GpuFacts* find_gpu(const MachineFacts& machine, int cuda_index) {
  const auto found = std::ranges::find(machine.gpus, cuda_index, &GpuFacts::cuda_index);
  return found == machine.gpus.end() ? nullptr : &*found;
}

std::optional<bool> has_tensor_cores(const GpuFacts& gpu) {
  if (!gpu.compute_capability) {
    return std::nullopt;
  }
  if (*gpu.compute_capability != ComputeCapability{7, 5}) {
    return *gpu.compute_capability >= ComputeCapability{7, 0};
  }
  if (gpu.pci_device_id) {
    return !is_small_turing_id(*gpu.pci_device_id);
  }
  const bool named = gpu.name && gpu.name->find("Graphics Device") == std::string::npos;
  return named ? std::optional(!is_small_turing(*gpu.name)) : std::nullopt;
}

bool shares_host_memory(const GpuFacts& gpu) {
  constexpr ComputeCapability kIntegrated[] = {{5, 3}, {6, 2}, {7, 2}, {8, 7}, {11, 0}, {12, 1}};
  return gpu.compute_capability &&
         std::ranges::find(kIntegrated, *gpu.compute_capability) != std::end(kIntegrated);
}

Target describe_target(const DeviceChoice& device, const MachineFacts& machine) {
  Target target{.type = device.type, .capability = {}, .tensor_cores = {}};
  if (device.type == DeviceType::kCuda) {
    if (const GpuFacts* gpu = find_gpu(machine, device.index)) {
      target.capability = gpu->compute_capability;
      target.tensor_cores = has_tensor_cores(*gpu);
    }
  }
  return target;
}

std::string tf32_lack(const Target& target) {
  if (target.type == DeviceType::kCpu) {
    return "a CPU has no TF32";
  }
  if (target.capability && *target.capability < ComputeCapability{8, 0}) {
    return fill("{} < 8.0 has no TF32", describe(*target.capability));
  }
  return "";
}

}  // namespace libtrain
