#pragma once

#include <cstdint>
#include <optional>

#include "libtrain/core/api.hpp"
#include "libtrain/facts/machine.hpp"
#include "libtrain/plan/plan.hpp"

namespace libtrain {

/// What training a model takes and what a device has, in bytes. Empty fields are unknown.
struct MemoryEstimate {
  std::optional<int64_t> usable;     ///< nine tenths of the memory: drivers keep up to 9 %
  std::optional<int64_t> weights;    ///< as the model stores them
  std::optional<int64_t> gradients;  ///< fp32, of trainable parameters
  std::optional<int64_t> optimizer;  ///< Adam's two moments in fp32
  std::optional<int64_t> sample;     ///< what one sample keeps for the backward pass

  /// All that training keeps between steps; nothing where a part is unknown.
  LT_API std::optional<int64_t> state() const;
};

/// Of the device's whole memory, so that what other jobs use enters no plan; processes of one
/// machine share a CPU's. Source of the parts: Rajbhandari et al., ZeRO, 2020, section 3.1.
LT_API MemoryEstimate estimate_memory(const DeviceChoice& device, const MachineFacts& machine,
                                      const ModelFacts& model);

/// Bytes of state that each of `ranks` keeps (the same paper, figure 1); nothing where unknown.
LT_API std::optional<int64_t> state_per_rank(const MemoryEstimate& memory, ParallelForm form,
                                             int ranks);

}  // namespace libtrain
