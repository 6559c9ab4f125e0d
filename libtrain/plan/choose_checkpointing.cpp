#include "libtrain/plan/choose_checkpointing.hpp"

#include <algorithm>

namespace libtrain {

Decision<bool> choose_checkpointing(const Request<bool>& asked, const MemoryEstimate& memory,
                                    ParallelForm form, int ranks) {
  if (asked.value) {
    return grant_later(asked);
  }
  const std::optional<int64_t> state = state_per_rank(memory, form, ranks);
  if (!state || !memory.usable) {
    return {
        false, Source::kDefault,
        memory.usable ? "the size of the model is unknown" : "the memory of the device is unknown"};
  }
  if (!memory.sample) {
    return {false, Source::kDefault, "what a sample keeps for the backward pass is unknown"};
  }
  const int64_t room = std::max<int64_t>(*memory.usable - *state, 0);
  return {*memory.sample > room, Source::kFacts,
          fill("a sample keeps {}, {} are left beside the training state",
               format_bytes(*memory.sample), format_bytes(room))};
}

}  // namespace libtrain
