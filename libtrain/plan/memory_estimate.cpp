#include "libtrain/plan/memory_estimate.hpp"

#include <algorithm>
#include <limits>

#include "libtrain/plan/target.hpp"

namespace libtrain {
namespace {

using Bytes = std::optional<int64_t>;

/// Nothing for what is no size, and at most what can be added up.
Bytes size_of(const Bytes& value, int64_t factor = 1) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max() / 16;
  if (!value || *value < 0) {
    return std::nullopt;
  }
  return *value > kMost / factor ? kMost : *value * factor;
}

Bytes host_memory(const HostFacts& host) {
  const Bytes limit = size_of(host.memory_limit_bytes);
  const Bytes installed = size_of(host.memory_bytes);
  return limit && installed ? std::min(*limit, *installed) : installed;
}

Bytes device_memory(const DeviceChoice& device, const MachineFacts& machine) {
  if (device.type == DeviceType::kCpu) {
    const Bytes host = host_memory(machine.host);
    const int processes = std::max(machine.launch.local_world_size.value_or(1), 1);
    return host ? Bytes(*host / processes) : std::nullopt;
  }
  const GpuFacts* gpu = find_gpu(machine, device.index);
  if (gpu == nullptr) {
    return std::nullopt;
  }
  return shares_host_memory(*gpu) ? host_memory(machine.host) : size_of(gpu->memory_bytes);
}

}  // namespace

std::optional<int64_t> MemoryEstimate::state() const {
  return weights && gradients && optimizer ? Bytes(*weights + *gradients + *optimizer)
                                           : std::nullopt;
}

MemoryEstimate estimate_memory(const DeviceChoice& device, const MachineFacts& machine,
                               const ModelFacts& model) {
  constexpr int64_t kFp32 = 4;
  const Bytes memory = device_memory(device, machine);
  return {.usable = memory ? Bytes(*memory / 10 * 9) : std::nullopt,
          .weights = size_of(model.parameter_bytes),
          .gradients = size_of(model.trainable, kFp32),
          .optimizer = size_of(model.trainable, 2 * kFp32),
          .sample = size_of(model.activation_bytes)};
}

std::optional<int64_t> state_per_rank(const MemoryEstimate& memory, ParallelForm form, int ranks) {
  if (!memory.state()) {
    return std::nullopt;
  }
  const auto kept = [&](int64_t bytes, ParallelForm sharded_from) {
    return form >= sharded_from ? bytes / std::max(ranks, 1) : bytes;
  };
  return kept(*memory.weights, ParallelForm::kZero3) +
         kept(*memory.gradients, ParallelForm::kZero2) +
         kept(*memory.optimizer, ParallelForm::kZero1);
}

}  // namespace libtrain
