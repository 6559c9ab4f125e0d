#include "libtrain/sim/ledger.hpp"

#include <algorithm>

#include "libtrain/core/text.hpp"

namespace libtrain::sim {
namespace {

std::string tensor_text(const Access& access) {
  std::string sizes;
  for (const int64_t size : access.sizes) {
    sizes += (sizes.empty() ? "" : ", ") + std::to_string(size);
  }
  return libtrain::fill("{} [{}]", c10::toString(access.dtype), sizes);
}

/// The bytes of its storage from the tensor's first to its last element. The tensor is not empty.
std::pair<int64_t, int64_t> extent(const at::Tensor& tensor) {
  int64_t elements = 1;
  for (int64_t i = 0; i < tensor.dim(); ++i) {
    elements += (tensor.size(i) - 1) * tensor.stride(i);
  }
  const auto bytes = static_cast<int64_t>(tensor.itemsize());
  const int64_t begin = tensor.storage_offset() * bytes;
  return {begin, begin + elements * bytes};
}

bool is_written(const at::Tensor& tensor, const std::vector<Use>& uses) {
  return std::any_of(uses.begin(), uses.end(),
                     [&tensor](const Use& use) { return use.write && use.tensor.is_same(tensor); });
}

Hazard hazard_of(const Access& before, const Access& now) {
  if (!now.write) {
    return Hazard::kReadAfterWrite;
  }
  return before.write ? Hazard::kWriteAfterWrite : Hazard::kWriteAfterRead;
}

}  // namespace

Ledger& Ledger::get() {
  // Never destroyed: memory is freed until the very end of the process.
  static auto* ledger = new Ledger;
  return *ledger;
}

Ledger::Ledger() { lanes_.push_back({{}, "the host"}); }

Lane Ledger::lane_of(const c10::Stream& stream) {
  const auto [place, is_new] =
      lane_of_stream_.try_emplace({stream.device_index(), stream.id()}, lanes_.size());
  if (is_new) {
    lanes_.push_back(
        {{}, fill("stream {} of sim:{}", stream.id(), static_cast<int>(stream.device_index()))});
  }
  return place->second;
}

uint64_t Ledger::launch(Lane lane) {
  lanes_[lane].clock.join(lanes_[kHostLane].clock);
  return lanes_[lane].clock.advance(lane);
}

void Ledger::run(std::string_view op, const c10::Stream& stream, const std::vector<Use>& uses) {
  const std::lock_guard lock(mutex_);
  const Lane lane = lane_of(stream);
  use_all(op, lane, uses);
}

void Ledger::run_on_host(std::string_view op, const std::vector<Use>& uses) {
  const std::lock_guard lock(mutex_);
  use_all(op, kHostLane, uses);
}

void Ledger::use_all(std::string_view op, Lane lane, const std::vector<Use>& uses) {
  const uint64_t tick = launch(lane);
  const std::shared_ptr<const Frames> frames = frames_here();
  // Reads first, so that writes stay behind. What an operator reads and writes counts as written.
  for (const bool write : {false, true}) {
    for (const Use& use_of : uses) {
      if (use_of.write == write && use_of.tensor.numel() > 0 &&
          (write || !is_written(use_of.tensor, uses))) {
        const auto [begin, end] = extent(use_of.tensor);
        use(*use_of.block, {op, lane, tick, write, begin, end, use_of.tensor.scalar_type(),
                            c10::DimVector(use_of.tensor.sizes()), frames});
      }
    }
  }
}

void Ledger::use(Block& block, Access now) {
  const VectorClock& known = lanes_[now.lane].clock;
  for (const Access& before : block.accesses) {
    const bool conflict = (before.write || now.write) && before.overlaps(now);
    if (conflict && !known.covers(before.lane, before.tick)) {
      report(hazard_of(before, now), before, now);
    }
  }
  // Who comes after `now` comes after these as well.
  std::erase_if(block.accesses, [&now](const Access& before) {
    return before.within(now) && (now.write || (!before.write && before.lane == now.lane));
  });
  block.accesses.push_back(std::move(now));
}

void Ledger::allocate(Block& block, std::string_view op, const c10::Stream& stream, size_t bytes) {
  const std::lock_guard lock(mutex_);
  block.home = lane_of(stream);
  const auto size = static_cast<int64_t>(bytes);
  use(block,
      {op, block.home, launch(block.home), true, 0, size, c10::kByte, {size}, frames_here()});
}

void Ledger::record_stream(Block& block, const c10::Stream& stream) {
  const std::lock_guard lock(mutex_);
  block.recorded_streams.push_back(lane_of(stream));
}

void Ledger::free(const Block& block) {
  const std::lock_guard lock(mutex_);
  // What the memory's next owner comes after: its stream, and the recorded ones as far as they have
  // come.
  VectorClock next = lanes_[block.home].clock;
  next.join(lanes_[kHostLane].clock);
  for (const Lane lane : block.recorded_streams) {
    next.join(lanes_[lane].clock);
  }
  for (const Access& before : block.accesses) {
    if (!next.covers(before.lane, before.tick)) {
      Access free = before;
      free.op = "free";
      free.lane = block.home;
      free.frames = frames_here();
      report(Hazard::kFreedInUse, before, free);
    }
  }
}

VectorClock Ledger::record(const c10::Stream& stream) {
  const std::lock_guard lock(mutex_);
  return lanes_[lane_of(stream)].clock;
}

void Ledger::block(const VectorClock& event, const c10::Stream& stream) {
  const std::lock_guard lock(mutex_);
  lanes_[lane_of(stream)].clock.join(event);
}

void Ledger::host_knows(const VectorClock& event) {
  const std::lock_guard lock(mutex_);
  lanes_[kHostLane].clock.join(event);
}

void Ledger::host_knows(const c10::Stream& stream) {
  const std::lock_guard lock(mutex_);
  const Lane lane = lane_of(stream);
  lanes_[kHostLane].clock.join(lanes_[lane].clock);
}

void Ledger::host_knows_all_of(c10::DeviceIndex device) {
  const std::lock_guard lock(mutex_);
  for (const auto& [stream, lane] : lane_of_stream_) {
    if (stream.first == device) {
      lanes_[kHostLane].clock.join(lanes_[lane].clock);
    }
  }
}

Place Ledger::place(const Access& access) const {
  return {std::string(access.op), lanes_[access.lane].name, tensor_text(access), {}};
}

void Ledger::report(Hazard hazard, const Access& earlier, const Access& later) {
  Race race{hazard, place(earlier), place(later)};
  for (Race& known : races_) {
    if (known.hazard == hazard && known.earlier == race.earlier && known.later == race.later) {
      ++known.times;
      return;
    }
  }
  for (const auto& [access, place] :
       {std::pair(&earlier, &race.earlier), std::pair(&later, &race.later)}) {
    if (access->frames) {
      place->frames = text_of(*access->frames);
    }
  }
  races_.push_back(std::move(race));
}

std::vector<Race> Ledger::races() {
  const std::lock_guard lock(mutex_);
  return races_;
}

void Ledger::clear_races() {
  const std::lock_guard lock(mutex_);
  races_.clear();
}

}  // namespace libtrain::sim
