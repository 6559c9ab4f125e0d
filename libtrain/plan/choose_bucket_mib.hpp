#pragma once

#include "libtrain/core/api.hpp"
#include "libtrain/plan/request.hpp"

namespace libtrain {

/// MiB of gradients that are reduced at once: 25, DistributedDataParallel's bucket_cap_mb (Li et
/// al., PyTorch Distributed, 2020, figure 7, found 10 to 25 best over NVLink and NCCL). No
/// measurement on this library's links speaks for another yet.
LT_API Decision<int> choose_bucket_mib(const Request<int>& asked);

}  // namespace libtrain
