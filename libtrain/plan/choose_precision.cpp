#include "libtrain/plan/choose_precision.hpp"

#include "libtrain/plan/capability.hpp"

namespace libtrain {
namespace {

constexpr ComputeCapability kFirstTensorCores{7, 0};
constexpr ComputeCapability kFirstBf16{8, 0};

Decision<PrecisionMode> choose_for_cpu(const CpuFacts& cpu) {
  if (cpu.amx_bf16 == true) {
    return {PrecisionMode::kBf16, Source::kFacts, "the CPU has AMX-BF16"};
  }
  if (cpu.avx512_bf16 == true) {
    return {PrecisionMode::kBf16, Source::kFacts, "the CPU has AVX512-BF16"};
  }
  if (cpu.arm_bf16 == true) {
    return {PrecisionMode::kFp32, Source::kFacts,
            "the CPU has Arm BF16, which is not known to train faster than fp32"};
  }
  if (cpu.amx_bf16 || cpu.avx512_bf16 || cpu.arm_bf16) {
    return {PrecisionMode::kFp32, Source::kFacts,
            "the CPU has no bf16 instructions: bf16 would be emulated, slower than fp32"};
  }
  return {PrecisionMode::kFp32, Source::kDefault,
          "the CPU's bf16 instructions are unknown, and fp32 is fast on every CPU"};
}

Decision<PrecisionMode> choose_for_cuda(const Target& target) {
  if (!target.capability) {
    return {PrecisionMode::kFp32, Source::kDefault,
            "the compute capability is unknown, and fp32 runs on every GPU"};
  }
  const std::string capability = describe(*target.capability);
  if (*target.capability >= kFirstBf16) {
    return {PrecisionMode::kBf16, Source::kFacts,
            fill("{}: tensor cores take bf16 from 8.0 on", capability)};
  }
  if (*target.capability < kFirstTensorCores) {
    return {PrecisionMode::kFp32, Source::kFacts, fill("{} < 7.0 has no tensor cores", capability)};
  }
  if (target.tensor_cores == false) {
    return {PrecisionMode::kFp32, Source::kFacts,
            fill("{}, but this chip has no tensor cores", capability)};
  }
  if (!target.tensor_cores) {
    return {PrecisionMode::kFp32, Source::kDefault,
            fill("{}, but whether this chip has tensor cores is unknown", capability)};
  }
  return {PrecisionMode::kFp16, Source::kFacts,
          fill("{} < 8.0: bf16 would be emulated, fp16 has tensor cores", capability)};
}

std::string cost_on_cpu(PrecisionMode precision, const CpuFacts& cpu) {
  if (precision == PrecisionMode::kFp16) {
    return "on a CPU fp16 is about 5 times slower than fp32";
  }
  const bool has_bf16 = cpu.amx_bf16 == true || cpu.avx512_bf16 == true || cpu.arm_bf16 == true;
  if (precision == PrecisionMode::kBf16 && !has_bf16) {
    return "no bf16 instructions are known here: bf16 is emulated, slower than fp32";
  }
  return "";
}

std::string cost_on_cuda(PrecisionMode precision, const Target& target) {
  if (!target.capability) {
    return precision == PrecisionMode::kFp32 ? "" : "the compute capability is unknown";
  }
  if (precision == PrecisionMode::kBf16 && *target.capability < kFirstBf16) {
    return fill("{} < 8.0: bf16 is emulated, slower than fp32", describe(*target.capability));
  }
  if (precision == PrecisionMode::kFp16 && target.tensor_cores == false) {
    return fill("{}, no tensor cores: fp16 may be slower than fp32", describe(*target.capability));
  }
  return "";
}

}  // namespace

Decision<PrecisionMode> choose_precision(const Request<PrecisionMode>& asked, const Target& target,
                                         const CpuFacts& cpu) {
  const bool cuda = target.type == DeviceType::kCuda;
  if (!asked.value) {
    return cuda ? choose_for_cuda(target) : choose_for_cpu(cpu);
  }
  if (*asked.value == PrecisionMode::kTf32) {
    if (const std::string lack = tf32_lack(target); !lack.empty()) {
      refuse("precision", "tf32", asked.origin, lack, "ask for fp32");
    }
  }
  return grant(asked, cuda ? cost_on_cuda(*asked.value, target) : cost_on_cpu(*asked.value, cpu));
}

}  // namespace libtrain
