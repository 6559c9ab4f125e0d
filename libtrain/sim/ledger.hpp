#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Stream.h>

#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libtrain/sim/block.hpp"
#include "libtrain/sim/clock.hpp"
#include "libtrain/sim/races.hpp"

namespace libtrain::sim {

/// A tensor that an operator reads or writes, and its memory.
struct Use {
  Block* block;
  at::Tensor tensor;
  bool write;
};

/// The books of the device: what each stream, and the host, knows to be done, and which uses of
/// memory nothing orders. All threads of the host count as one lane, in the order in which they
/// come here. Thread-safe.
class Ledger {
 public:
  static Ledger& get();

  /// An operator is given to `stream`: it comes after all that the host and the stream know.
  void run(std::string_view op, const c10::Stream& stream, const std::vector<Use>& uses);
  /// The host itself uses memory.
  void run_on_host(std::string_view op, const std::vector<Use>& uses);

  /// `stream` gets `block`, whose memory an earlier owner may have used there until now.
  void allocate(Block& block, std::string_view op, const c10::Stream& stream, size_t bytes);
  void record_stream(Block& block, const c10::Stream& stream);
  void free(const Block& block);

  VectorClock record(const c10::Stream& stream);
  void block(const VectorClock& event, const c10::Stream& stream);
  void host_knows(const VectorClock& event);
  void host_knows(const c10::Stream& stream);
  void host_knows_all_of(c10::DeviceIndex device);

  std::vector<Race> races();
  void clear_races();

 private:
  Ledger();

  struct LaneState {
    VectorClock clock;
    std::string name;
  };

  Lane lane_of(const c10::Stream& stream);
  uint64_t launch(Lane lane);
  void use_all(std::string_view op, Lane lane, const std::vector<Use>& uses);
  void use(Block& block, Access now);
  Place place(const Access& access) const;
  void report(Hazard hazard, const Access& earlier, const Access& later);

  std::mutex mutex_;
  std::vector<LaneState> lanes_;
  std::map<std::pair<c10::DeviceIndex, c10::StreamId>, Lane> lane_of_stream_;
  std::vector<Race> races_;
};

}  // namespace libtrain::sim
