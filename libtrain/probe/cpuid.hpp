#pragma once

#include "libtrain/core/api.hpp"
#include "libtrain/probe/sources.hpp"

namespace libtrain {

/// Instruction sets of an x86 processor that a program may use: the processor has them and the OS
/// saves their registers. All false on other processors.
struct X86Features {
  bool avx2 = false;    ///< AVX2 and FMA
  bool avx512 = false;  ///< F, BW, DQ and VL
  bool avx512_bf16 = false;
  bool amx_bf16 = false;
  bool amx_int8 = false;
  bool amx_fp16 = false;
  bool hybrid = false;  ///< cores of two kinds

  friend bool operator==(const X86Features&, const X86Features&) = default;
};

LT_API X86Features x86_features(const Sources& sources);

}  // namespace libtrain
