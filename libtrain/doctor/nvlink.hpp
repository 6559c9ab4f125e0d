#pragma once

#include <optional>
#include <string>
#include <vector>

#include "libtrain/facts/machine.hpp"

namespace libtrain {

/// Whether NVLink joins two GPUs, directly or by a switch; where the ends of the links are not
/// known, whether `gpu` has links that are up.
bool are_linked(const MachineFacts& machine, const GpuFacts& gpu, const GpuFacts& other);

/// "none between 12 of 28 pairs, such as GPU 0 and GPU 5"; nothing where all pairs are linked.
std::optional<std::string> unlinked_pairs(const MachineFacts& machine,
                                          const std::vector<const GpuFacts*>& gpus);

/// The hidden GPU where the links of `gpu` end, none of which leads to one of `gpus`; null where it
/// is linked to one of them, or to no hidden one.
const GpuFacts* hidden_partner(const MachineFacts& machine,
                               const std::vector<const GpuFacts*>& gpus, const GpuFacts& gpu);

}  // namespace libtrain
