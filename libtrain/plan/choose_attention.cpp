#include "libtrain/plan/choose_attention.hpp"

#include "libtrain/plan/capability.hpp"
#include "libtrain/plan/version.hpp"

namespace libtrain {
namespace {

constexpr ComputeCapability kFirstFlash{8, 0};
constexpr Version kFirstCudnnAttention{9, 0, 0};
constexpr Version kLastSlowCudnn{9, 15, 0};

bool is_16_bit(PrecisionMode precision) {
  return precision == PrecisionMode::kBf16 || precision == PrecisionMode::kFp16;
}

/// Why `kind` cannot be used, empty when it can or when that is unknown.
std::string lack_of(AttentionKind kind, const Target& target, PrecisionMode precision,
                    const LibraryFacts& library) {
  const bool own = kind == AttentionKind::kShort;
  if (kind == AttentionKind::kMath) {
    return "";
  }
  if (target.type == DeviceType::kCpu) {
    return own ? "" : fill("{} attention is for CUDA", to_text(kind));
  }
  if (own) {
    return "the own kernel runs on the CPU only";
  }
  const bool old = target.capability && *target.capability < kFirstFlash;
  if (kind == AttentionKind::kEfficient) {
    return old && precision == PrecisionMode::kBf16
               ? fill("{} < 8.0 takes no bf16 there", describe(*target.capability))
               : "";
  }
  if (old) {
    return fill("{} < 8.0", describe(*target.capability));
  }
  if (!is_16_bit(precision)) {
    return fill("it takes fp16 and bf16, not {}", to_text(precision));
  }
  const std::optional<Version> cudnn = parse_version(library.cudnn_version);
  if (kind == AttentionKind::kCudnn && cudnn && *cudnn < kFirstCudnnAttention) {
    return fill("cuDNN {} is older than 9.0", *library.cudnn_version);
  }
  return "";
}

bool cudnn_deprioritized(const std::map<std::string, std::string>& variables) {
  const auto found = variables.find("TORCH_CUDNN_SDPA_DEPRIORITIZED");
  return found != variables.end() && found->second == "1";
}

Decision<AttentionKind> choose_16_bit(ComputeCapability capability, const LibraryFacts& library,
                                      const std::map<std::string, std::string>& variables) {
  const std::string named = describe(capability);
  if (capability.major != 9 && capability.major != 10) {
    return {AttentionKind::kFlash, Source::kFacts,
            fill("{} in 16 bit: cuDNN comes first on 9.x and 10.x only", named)};
  }
  const std::optional<Version> cudnn = parse_version(library.cudnn_version);
  if (!cudnn) {
    return {AttentionKind::kFlash, Source::kDefault,
            fill("{}, but the version of cuDNN is unknown", named)};
  }
  if (*cudnn <= kLastSlowCudnn) {
    return {AttentionKind::kFlash, Source::kFacts,
            fill("{}, but cuDNN {} is not newer than 9.15.0", named, *library.cudnn_version)};
  }
  if (cudnn_deprioritized(variables)) {
    return {AttentionKind::kFlash, Source::kEnvironment, "TORCH_CUDNN_SDPA_DEPRIORITIZED=1"};
  }
  return {AttentionKind::kCudnn, Source::kFacts,
          fill("{} in 16 bit, cuDNN {} > 9.15.0", named, *library.cudnn_version)};
}

}  // namespace

Decision<AttentionKind> choose_attention(const Request<AttentionKind>& asked, const Target& target,
                                         PrecisionMode precision, const LibraryFacts& library,
                                         const std::map<std::string, std::string>& variables) {
  if (asked.value) {
    if (const std::string lack = lack_of(*asked.value, target, precision, library); !lack.empty()) {
      refuse("attention", to_text(*asked.value), asked.origin, lack, "ask for math");
    }
    return grant(asked);
  }
  if (target.type == DeviceType::kCpu) {
    return {AttentionKind::kShort, Source::kFacts, "own kernel for packed sequences on the CPU"};
  }
  if (!is_16_bit(precision)) {
    return {AttentionKind::kEfficient, Source::kFacts,
            fill("flash and cuDNN take fp16 and bf16, not {}", to_text(precision))};
  }
  if (!target.capability) {
    return {AttentionKind::kEfficient, Source::kDefault, "the compute capability is unknown"};
  }
  if (*target.capability >= kFirstFlash) {
    return choose_16_bit(*target.capability, library, variables);
  }
  const std::string named = describe(*target.capability);
  if (precision == PrecisionMode::kBf16) {
    return {AttentionKind::kMath, Source::kFacts, fill("{} < 8.0 has no fused bf16 form", named)};
  }
  return {AttentionKind::kEfficient, Source::kFacts, fill("{} < 8.0: no flash, no cuDNN", named)};
}

}  // namespace libtrain
