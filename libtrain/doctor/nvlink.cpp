#include "libtrain/doctor/nvlink.hpp"

#include <algorithm>

#include "libtrain/core/text.hpp"
#include "libtrain/doctor/examined.hpp"

namespace libtrain {
namespace {

using Ends = std::vector<std::string>;

bool holds(const Ends& ends, const std::optional<std::string>& end) {
  return end && std::ranges::find(ends, *end) != ends.end();
}

const GpuFacts* gpu_at(const MachineFacts& machine, const std::string& bus_id) {
  const auto found = std::ranges::find(machine.gpus, bus_id, &GpuFacts::pci_bus_id);
  return found == machine.gpus.end() ? nullptr : &*found;
}

/// The ends of the links without their number; nothing where one is neither a switch, a CPU nor a
/// GPU of this machine: an older driver's switch, or another machine's address of a GPU in a VM.
std::optional<Ends> known_ends(const MachineFacts& machine, const GpuFacts& gpu) {
  if (!gpu.nvlink_peers) {
    return std::nullopt;
  }
  Ends out;
  for (const std::string& peer : *gpu.nvlink_peers) {
    out.push_back(peer.substr(0, peer.find(' ')));
    if (out.back() != "switch" && out.back() != "cpu" && gpu_at(machine, out.back()) == nullptr) {
      return std::nullopt;
    }
  }
  return out;
}

}  // namespace

bool are_linked(const MachineFacts& machine, const GpuFacts& gpu, const GpuFacts& other) {
  const std::optional<Ends> ends = known_ends(machine, gpu);
  const std::optional<Ends> others = known_ends(machine, other);
  if (!ends || !others) {
    return gpu.nvlinks_active.value_or(0) > 0;
  }
  return holds(*ends, other.pci_bus_id) || (holds(*ends, "switch") && holds(*others, "switch"));
}

std::optional<std::string> unlinked_pairs(const MachineFacts& machine,
                                          const std::vector<const GpuFacts*>& gpus) {
  size_t unlinked = 0;
  std::string example;
  for (size_t i = 0; i < gpus.size(); ++i) {
    for (size_t j = i + 1; j < gpus.size(); ++j) {
      if (!are_linked(machine, *gpus[i], *gpus[j]) && ++unlinked == 1) {
        example = fill("GPU {} and GPU {}", *gpus[i]->cuda_index, *gpus[j]->cuda_index);
      }
    }
  }
  const size_t pairs = gpus.size() * (gpus.size() - 1) / 2;
  return unlinked == 0 ? std::nullopt
                       : std::optional(fill("none between {} of {} pairs, such as {}", unlinked,
                                            pairs, example));
}

const GpuFacts* hidden_partner(const MachineFacts& machine,
                               const std::vector<const GpuFacts*>& gpus, const GpuFacts& gpu) {
  for (const GpuFacts* other : gpus) {
    if (other != &gpu && are_linked(machine, gpu, *other)) {
      return nullptr;
    }
  }
  for (const std::string& end : known_ends(machine, gpu).value_or(Ends{})) {
    const GpuFacts* partner = gpu_at(machine, end);
    if (partner != nullptr && !partner->cuda_index) {
      return partner;
    }
  }
  return nullptr;
}

}  // namespace libtrain
