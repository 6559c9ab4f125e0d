#pragma once

#include <map>
#include <string>

#include "libtrain/core/api.hpp"
#include "libtrain/facts/library.hpp"
#include "libtrain/plan/request.hpp"
#include "libtrain/plan/target.hpp"

namespace libtrain {

/// What attention is computed with first; ATen falls back where a shape does not suit.
///
/// CPU: the own kernel for packed short sequences. CUDA, by the order and the limits of LibTorch
/// 2.15 (aten/src/ATen/native/transformers/cuda/sdp_utils.cpp):
/// - fp32, TF32 and everything below 8.0: memory-efficient, the only fused one that takes them
///   (not bf16 below 8.0: math);
/// - 16 bit on 9.x and 10.x with cuDNN newer than 9.15.0, unless TORCH_CUDNN_SDPA_DEPRIORITIZED is
///   set: cuDNN;
/// - 16 bit elsewhere from 8.0: flash.
///
/// Throws Unsupported for a kind that cannot take this device and precision.
LT_API Decision<AttentionKind> choose_attention(
    const Request<AttentionKind>& asked, const Target& target, PrecisionMode precision,
    const LibraryFacts& library, const std::map<std::string, std::string>& variables);

}  // namespace libtrain
