#include "libtrain/runtime/simulation.hpp"

#include <dlfcn.h>

#include <algorithm>

#include "libtrain/core/require.hpp"
#include "libtrain/plan/target.hpp"
#include "libtrain/sim/entry.hpp"

namespace libtrain {
namespace {

constexpr int kMostDevices = 8;

/// The library beside this one; it stays loaded.
const sim::Entry* load_entry() {
  void* library = ::dlopen(LIBTRAIN_SIM_LIBRARY, RTLD_NOW | RTLD_GLOBAL);
  void* find = library == nullptr ? nullptr : ::dlsym(library, sim::kEntryName);
  if (find == nullptr) {
    throw Unsupported(
        fill("[runtime.simulate] the simulated device cannot be loaded: {}; expected {} "
             "beside libtrain.so",
             ::dlerror(), LIBTRAIN_SIM_LIBRARY));
  }
  return reinterpret_cast<sim::FindEntry>(find)();
}

int devices_of(const MachineFacts& machine) {
  const auto visible = std::ranges::count_if(
      machine.gpus, [](const GpuFacts& gpu) { return gpu.cuda_index.has_value(); });
  return std::clamp(static_cast<int>(visible), 1, kMostDevices);
}

}  // namespace

Simulation::Simulation(const MachineFacts& machine, const Decision<DeviceChoice>& device)
    : entry_(nullptr), device_(at::kCPU) {
  require<Unsupported>(device.value.type == DeviceType::kCuda,
                       "[runtime.simulate] the plan for this machine has no GPU to simulate: {}",
                       device.reason);
  require<Unsupported>(device.value.index < kMostDevices,
                       "[runtime.simulate] device cuda:{}, expected one of the first {}",
                       device.value.index, kMostDevices);
  entry_ = load_entry();
  entry_->enable(devices_of(machine));
  device_ = at::Device(at::kPrivateUse1, static_cast<c10::DeviceIndex>(device.value.index));
  const GpuFacts* gpu = find_gpu(machine, device.value.index);
  machine_ = gpu != nullptr ? gpu->name.value_or("an unnamed GPU") : "an unnamed GPU";
  if (gpu != nullptr && gpu->memory_bytes) {
    limit_bytes_ = *gpu->memory_bytes;
    entry_->set_memory_limit(device_.index(), limit_bytes_);
  }
  entry_->start();
}

SimulationReport Simulation::report() const {
  sim::Observed seen = entry_->observed();
  return {.machine = machine_,
          .races = std::move(seen.races),
          .waits = std::move(seen.waits),
          .host_waits = seen.host_waits,
          .peak_bytes = seen.peak_bytes,
          .limit_bytes = limit_bytes_};
}

int64_t Simulation::host_waits() const { return entry_->host_waits(); }

}  // namespace libtrain
