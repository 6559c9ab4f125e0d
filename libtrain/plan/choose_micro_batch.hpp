#pragma once

#include "libtrain/core/api.hpp"
#include "libtrain/plan/memory_estimate.hpp"
#include "libtrain/plan/request.hpp"

namespace libtrain {

/// Samples of one forward pass; 0: the batch as it is given. The largest number whose activations
/// fit beside the training state, made smaller until the parts of a rank's batch are of one size
/// within one sample; `accumulate`, where it is asked for, divides the batch instead. The batch of
/// an update, and so its mathematics, stay as they are.
///
/// `rank_batch`: samples a rank takes per update. Throws InvalidOption for less than 1 sample.
LT_API Decision<int64_t> choose_micro_batch(const Request<int64_t>& asked,
                                            const std::optional<int64_t>& rank_batch,
                                            const std::optional<int64_t>& accumulate,
                                            const MemoryEstimate& memory, ParallelForm form,
                                            int ranks);

}  // namespace libtrain
