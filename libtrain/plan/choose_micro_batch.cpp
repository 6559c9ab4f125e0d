#include "libtrain/plan/choose_micro_batch.hpp"

#include <algorithm>

#include "libtrain/core/require.hpp"

namespace libtrain {
namespace {

int64_t divided(int64_t samples, int64_t parts) { return (samples - 1) / parts + 1; }

}  // namespace

Decision<int64_t> choose_micro_batch(const Request<int64_t>& asked,
                                     const std::optional<int64_t>& rank_batch,
                                     const std::optional<int64_t>& accumulate,
                                     const MemoryEstimate& memory, ParallelForm form, int ranks) {
  if (asked.value) {
    require(*asked.value >= 1,
            "[plan.micro_batch] out of range: micro_batch={}, expected at least 1", *asked.value);
    return grant_later(asked);
  }
  if (accumulate) {
    const std::string found = fill("accumulate={} was asked for", *accumulate);
    return {rank_batch ? divided(*rank_batch, *accumulate) : 0, Source::kAsked, found};
  }
  const std::optional<int64_t> state = state_per_rank(memory, form, ranks);
  if (!state || !memory.usable || memory.sample.value_or(0) < 1) {
    return {0, Source::kDefault,
            memory.usable ? "what a sample keeps for the backward pass is unknown"
                          : "the memory of the device is unknown"};
  }
  const int64_t room = std::max<int64_t>(*memory.usable - *state, 0);
  const int64_t fit = std::max<int64_t>(room / *memory.sample, 1);
  const std::string found = fill("{} a sample, {} beside the training state",
                                 format_bytes(*memory.sample), format_bytes(room));
  return {rank_batch ? divided(*rank_batch, divided(*rank_batch, fit)) : fit, Source::kFacts,
          found};
}

}  // namespace libtrain
