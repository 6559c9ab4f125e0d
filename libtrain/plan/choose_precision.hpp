#pragma once

#include "libtrain/core/api.hpp"
#include "libtrain/facts/cpu.hpp"
#include "libtrain/plan/request.hpp"
#include "libtrain/plan/target.hpp"

namespace libtrain {

/// CUDA from compute capability 8.0: bf16. 7.0 to 7.5: fp16, but fp32 on the chips without tensor
/// cores. Below 7.0: fp32. CPU: bf16 with AMX-BF16 or AVX512-BF16, else fp32. Unknown: fp32.
///
/// Sources. 8.0 is the first capability with bf16 tensor cores (NVIDIA A100 white paper);
/// torch.cuda.is_bf16_supported() also counts emulation, which is slower than fp32. GP10x runs fp16
/// at 1/64 of its fp32 rate (CUDA C++ Programming Guide, arithmetic throughput). CPUs without these
/// instructions train slower in bf16 than in fp32 (pytorch issue 118499); fp16 took 5 times as long
/// as fp32 with LibTorch 2.15 on AVX-512. Arm BF16 speeds inference up; training is unproven.
///
/// What is asked is granted with its cost named, but for tf32 without TF32 hardware: Unsupported.
LT_API Decision<PrecisionMode> choose_precision(const Request<PrecisionMode>& asked,
                                                const Target& target, const CpuFacts& cpu);

}  // namespace libtrain
