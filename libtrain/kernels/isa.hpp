#pragma once

#include <string_view>
#include <vector>

#include "libtrain/core/api.hpp"

namespace libtrain::kernels {

/// The instruction sets each kernel is compiled for.
enum class Isa { kScalar, kAvx2, kAvx512 };

LT_API std::string_view to_text(Isa isa);  ///< "scalar", "avx2", "avx512"
/// Those this CPU and its operating system can run, slowest first; kScalar always.
LT_API std::vector<Isa> available_isas();
/// The one in use: FASTTRAIN_ISA if set, else the fastest available; chosen once per process.
/// Throws InvalidOption when FASTTRAIN_ISA names no ISA or one this CPU lacks.
LT_API Isa active_isa();

}  // namespace libtrain::kernels
