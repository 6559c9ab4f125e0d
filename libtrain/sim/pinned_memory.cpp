#include "libtrain/sim/pinned_memory.hpp"

#include <map>
#include <mutex>

#include "libtrain/sim/host_operators.hpp"
#include "libtrain/sim/ledger.hpp"
#include "libtrain/sim/sim.hpp"

namespace libtrain::sim {
namespace {

struct Pinned {
  Block block;
  c10::Storage memory;
};

/// The buffers by their first byte, for questions about a bare address.
struct Buffers {
  std::mutex mutex;
  std::map<const char*, size_t> bytes;
  at::HostStats stats;
};

Buffers& buffers() {
  static auto* buffers = new Buffers;
  return *buffers;
}

void release_pinned(void* context) {
  auto* pinned = static_cast<Pinned*>(context);
  {
    const std::lock_guard lock(buffers().mutex);
    buffers().bytes.erase(static_cast<const char*>(pinned->memory.data()));
    buffers().stats.allocations.decrease(1);
    buffers().stats.allocated_bytes.decrease(pinned->memory.nbytes());
  }
  delete pinned;
}

class PinnedAllocator final : public at::HostAllocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    watch_host_operators();
    auto* cpu = c10::GetAllocator(c10::kCPU);
    c10::Storage memory(c10::Storage::use_byte_size_t(), static_cast<int64_t>(bytes), cpu);
    void* data = memory.mutable_data();
    {
      const std::lock_guard lock(buffers().mutex);
      buffers().bytes[static_cast<const char*>(data)] = bytes;
      buffers().stats.allocations.increase(1);
      buffers().stats.allocated_bytes.increase(bytes);
    }
    return {data, new Pinned{{}, std::move(memory)}, &release_pinned, c10::kCPU};
  }
  void copy_data(void* to, const void* from, size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }

  /// Nothing to note: a buffer that is freed is not given out again.
  bool record_event(void* data, void*, c10::Stream) override { return is_pinned(data); }
  void empty_cache() override {}
  at::HostStats get_stats() override {
    const std::lock_guard lock(buffers().mutex);
    return buffers().stats;
  }
  void reset_accumulated_stats() override {
    const std::lock_guard lock(buffers().mutex);
    buffers().stats.allocations.reset_accumulated();
    buffers().stats.allocated_bytes.reset_accumulated();
  }
  void reset_peak_stats() override {
    const std::lock_guard lock(buffers().mutex);
    buffers().stats.allocations.reset_peak();
    buffers().stats.allocated_bytes.reset_peak();
  }
};

void note(const at::Tensor& tensor, const char* what, bool write) {
  if (Block* block = pinned_block(tensor.storage().data_ptr())) {
    Ledger::get().run_on_host(what, {{block, tensor, write}});
  }
}

}  // namespace

at::HostAllocator* pinned_allocator() {
  static auto* allocator = new PinnedAllocator;
  return allocator;
}

Block* pinned_block(const c10::DataPtr& memory) {
  return memory.get_deleter() == &release_pinned
             ? &static_cast<Pinned*>(memory.get_context())->block
             : nullptr;
}

bool is_pinned(const void* data) {
  const std::lock_guard lock(buffers().mutex);
  const auto* address = static_cast<const char*>(data);
  auto after = buffers().bytes.upper_bound(address);
  if (after == buffers().bytes.begin()) {
    return false;
  }
  const auto& [first, bytes] = *--after;
  return address < first + bytes;
}

void note_host_read(const at::Tensor& tensor, const char* what) { note(tensor, what, false); }

void note_host_write(const at::Tensor& tensor, const char* what) { note(tensor, what, true); }

}  // namespace libtrain::sim
