#include "libtrain/sim/memory.hpp"

#include <unistd.h>

#include <array>
#include <mutex>

#include "libtrain/core/require.hpp"
#include "libtrain/sim/device.hpp"
#include "libtrain/sim/faults.hpp"
#include "libtrain/sim/ledger.hpp"
#include "libtrain/sim/sim.hpp"

namespace libtrain::sim {
namespace {

using c10::CachingDeviceAllocator::DeviceStats;

struct Allocation {
  Block block;
  c10::Storage memory;
  c10::DeviceIndex device;
  size_t bytes;    // asked for
  size_t rounded;  // counted
};

struct DeviceMemory {
  int64_t limit = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE);
  DeviceStats stats;
};

constexpr size_t kRounding = 512;
constexpr auto kAll = static_cast<size_t>(c10::CachingAllocator::StatType::AGGREGATE);

std::mutex& mutex() {
  static auto* mutex = new std::mutex;
  return *mutex;
}

std::array<DeviceMemory, kMaxDevices>& memories() {
  static auto* memories = new std::array<DeviceMemory, kMaxDevices>;
  return *memories;
}

void count_allocation(const Allocation& allocation) {
  const std::lock_guard lock(mutex());
  auto& [limit, stats] = memories()[allocation.device];
  const int64_t held = stats.allocated_bytes[kAll].current;
  if (held + static_cast<int64_t>(allocation.rounded) > limit) {
    ++stats.num_ooms;
    TORCH_CHECK_WITH(OutOfMemoryError, false,
                     fill("[sim.allocate] sim:{} is out of memory: asked for {}, {} of {} are "
                          "held; use a smaller batch, or "
                          "raise the limit by set_memory_limit",
                          static_cast<int>(allocation.device),
                          format_bytes(static_cast<int64_t>(allocation.bytes)), format_bytes(held),
                          format_bytes(limit)));
  }
  stats.allocation[kAll].increase(1);
  stats.active[kAll].increase(1);
  stats.requested_bytes[kAll].increase(allocation.bytes);
  for (auto* bytes : {&stats.allocated_bytes, &stats.reserved_bytes, &stats.active_bytes}) {
    (*bytes)[kAll].increase(allocation.rounded);
  }
}

void count_free(const Allocation& allocation) {
  const std::lock_guard lock(mutex());
  DeviceStats& stats = memories()[allocation.device].stats;
  stats.allocation[kAll].decrease(1);
  stats.active[kAll].decrease(1);
  stats.requested_bytes[kAll].decrease(allocation.bytes);
  for (auto* bytes : {&stats.allocated_bytes, &stats.reserved_bytes, &stats.active_bytes}) {
    (*bytes)[kAll].decrease(allocation.rounded);
  }
}

void release_memory(void* context) {
  auto* allocation = static_cast<Allocation*>(context);
  Ledger::get().free(allocation->block);
  count_free(*allocation);
  delete allocation;
}

class SimAllocator final : public c10::DeviceAllocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    const c10::Stream stream = current_stream(current_device());
    auto* cpu = c10::GetAllocator(c10::kCPU);
    return adopt(c10::Storage(c10::Storage::use_byte_size_t(), static_cast<int64_t>(bytes), cpu,
                              /*resizable=*/true),
                 "allocation", stream);
  }
  void copy_data(void* to, const void* from, size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }

  bool initialized() override { return true; }
  void emptyCache(c10::MempoolId_t) override {}
  void recordStream(const c10::DataPtr& memory, c10::Stream stream) override {
    if (Block* block = device_block(memory)) {
      Ledger::get().record_stream(*block, stream);
    }
  }
  DeviceStats getDeviceStats(c10::DeviceIndex device) override {
    require_device(device);
    const std::lock_guard lock(mutex());
    return memories()[device].stats;
  }
  void resetAccumulatedStats(c10::DeviceIndex device) override {
    for_each_stat(device, [](auto& stat) { stat.reset_accumulated(); });
  }
  void resetPeakStats(c10::DeviceIndex device) override {
    for_each_stat(device, [](auto& stat) { stat.reset_peak(); });
  }
  std::pair<size_t, size_t> getMemoryInfo(c10::DeviceIndex device) override {
    require_device(device);
    const std::lock_guard lock(mutex());
    const auto& [limit, stats] = memories()[device];
    const int64_t held = stats.allocated_bytes[kAll].current;
    return {static_cast<size_t>(std::max<int64_t>(limit - held, 0)), static_cast<size_t>(limit)};
  }

 private:
  template <class Function>
  void for_each_stat(c10::DeviceIndex device, const Function& reset) {
    require_device(device);
    const std::lock_guard lock(mutex());
    DeviceStats& stats = memories()[device].stats;
    for (auto* stat : {&stats.allocation, &stats.active, &stats.requested_bytes,
                       &stats.allocated_bytes, &stats.reserved_bytes, &stats.active_bytes}) {
      reset((*stat)[kAll]);
    }
  }
};

}  // namespace

void set_memory_limit(c10::DeviceIndex device, int64_t bytes) {
  require_device(device);
  require(bytes >= 0, "[sim.set_memory_limit] bytes={}, expected 0 or more", bytes);
  const std::lock_guard lock(mutex());
  memories()[device].limit = bytes;
}

c10::DeviceAllocator* device_allocator() {
  static auto* allocator = new SimAllocator;
  return allocator;
}

c10::DataPtr adopt(c10::Storage memory, std::string_view op, const c10::Stream& stream) {
  fault_due(FaultPoint::kAllocation, op, stream.device_index());
  const size_t bytes = memory.nbytes();
  const size_t rounded = (bytes + kRounding - 1) / kRounding * kRounding;
  void* data = memory.mutable_data();
  auto allocation = std::make_unique<Allocation>(
      Allocation{{}, std::move(memory), stream.device_index(), bytes, rounded});
  count_allocation(*allocation);
  Ledger::get().allocate(allocation->block, op, stream, bytes);
  return {data, allocation.release(), &release_memory, stream.device()};
}

c10::Storage host_memory(const c10::Storage& storage) {
  if (device_block(storage.data_ptr())) {
    return static_cast<Allocation*>(storage.data_ptr().get_context())->memory;
  }
  return c10::make_intrusive<c10::StorageImpl>(
      c10::StorageImpl::use_byte_size_t(), storage.nbytes(),
      c10::DataPtr(storage.mutable_data(), c10::kCPU), c10::GetAllocator(c10::kCPU),
      /*resizable=*/true);
}

Block* device_block(const c10::DataPtr& memory) {
  return memory.get_deleter() == &release_memory
             ? &static_cast<Allocation*>(memory.get_context())->block
             : nullptr;
}

}  // namespace libtrain::sim
