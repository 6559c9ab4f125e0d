#pragma once

#include <map>
#include <string>

#include "libtrain/core/api.hpp"
#include "libtrain/plan/plan.hpp"
#include "libtrain/plan/request.hpp"
#include "libtrain/plan/target.hpp"

namespace libtrain {

/// What stays in fp32 multiplies in TF32 on compute capability 8.0 and newer, unless full fp32 was
/// asked for (precision=fp32); IEEE fp32 on everything else. TF32 keeps fp32's range and 10 bits of
/// mantissa (NVIDIA A100 white paper); NVIDIA_TF32_OVERRIDE=0 switches it off in NVIDIA's libraries
/// whatever a program sets (cuBLAS documentation).
///
/// Throws Unsupported for tf32 without the hardware, InvalidOption for precision=tf32 together with
/// fp32_matmul=ieee.
LT_API Decision<MatmulPrecision> choose_fp32_matmul(
    const Request<MatmulPrecision>& asked, const Decision<PrecisionMode>& precision,
    const Target& target, const std::map<std::string, std::string>& variables);

}  // namespace libtrain
