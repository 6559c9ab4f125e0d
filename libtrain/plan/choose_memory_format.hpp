#pragma once

#include "libtrain/core/api.hpp"
#include "libtrain/facts/model.hpp"
#include "libtrain/plan/request.hpp"
#include "libtrain/plan/target.hpp"

namespace libtrain {

/// channels_last for models with convolutions, in 16 bit on GPUs with tensor cores and in any
/// precision on the CPU; contiguous elsewhere. Sources: NVIDIA, Convolutional Layers User's Guide
/// (tensor-core kernels read NHWC); fp32 and grouped convolutions can lose on CUDA (pytorch issues
/// 50036 and 34977); oneDNN computes in NHWC (PyTorch, Channels Last Memory Format).
LT_API Decision<MemoryFormat> choose_memory_format(const Request<MemoryFormat>& asked,
                                                   const Target& target, PrecisionMode precision,
                                                   const ModelFacts& model);

}  // namespace libtrain
