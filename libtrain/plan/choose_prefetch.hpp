#pragma once

#include "libtrain/core/api.hpp"
#include "libtrain/plan/request.hpp"

namespace libtrain {

/// Batches each data worker makes ahead: 2, as torch.utils.data.DataLoader's prefetch_factor; 0
/// without workers.
LT_API Decision<int> choose_prefetch(const Request<int>& asked, int data_workers);

}  // namespace libtrain
