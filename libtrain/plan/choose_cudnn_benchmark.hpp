#pragma once

#include "libtrain/core/api.hpp"
#include "libtrain/facts/model.hpp"
#include "libtrain/plan/plan.hpp"
#include "libtrain/plan/request.hpp"

namespace libtrain {

/// On for models with convolutions whose shapes never change, on CUDA: cuDNN then times its
/// algorithms once per shape; with varying shapes it would do so again and again (pytorch issue
/// 2759). Off until a model says so.
LT_API Decision<bool> choose_cudnn_benchmark(const Request<bool>& asked, DeviceType device,
                                             const ModelFacts& model);

}  // namespace libtrain
