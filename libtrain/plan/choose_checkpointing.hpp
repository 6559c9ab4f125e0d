#pragma once

#include "libtrain/core/api.hpp"
#include "libtrain/plan/memory_estimate.hpp"
#include "libtrain/plan/request.hpp"

namespace libtrain {

/// Activation checkpointing. Off unless the activations of a single sample do not fit beside the
/// training state, for a smaller micro-batch costs less than computing the forward pass twice, a
/// third more work (Chen et al., Training Deep Nets with Sublinear Memory Cost, 2016). More memory
/// never turns it on.
LT_API Decision<bool> choose_checkpointing(const Request<bool>& asked, const MemoryEstimate& memory,
                                           ParallelForm form, int ranks);

}  // namespace libtrain
