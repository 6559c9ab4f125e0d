#pragma once

#include "libtrain/core/api.hpp"
#include "libtrain/plan/memory_estimate.hpp"
#include "libtrain/plan/request.hpp"

namespace libtrain {

/// One process: alone. Several: the first of DDP, ZeRO-1, ZeRO-2 and ZeRO-3 whose share of weights,
/// gradients and optimizer state fits the device beside one sample's activations, for each shards
/// more than the one before and sends as much or more (Rajbhandari et al., ZeRO, 2020, section 7);
/// DDP while a size is unknown, ZeRO-3 where none fits.
LT_API Decision<ParallelForm> choose_parallelism(const Request<ParallelForm>& asked,
                                                 const MemoryEstimate& memory, int ranks);

}  // namespace libtrain
