#include "libtrain/plan/choose_fp32_matmul.hpp"

#include "libtrain/core/require.hpp"
#include "libtrain/plan/capability.hpp"

namespace libtrain {
namespace {

bool overridden(const std::map<std::string, std::string>& variables) {
  const auto found = variables.find("NVIDIA_TF32_OVERRIDE");
  return found != variables.end() && found->second == "0";
}

bool was_requested(Source source) {
  return source == Source::kAsked || source == Source::kEnvironment;
}

}  // namespace

Decision<MatmulPrecision> choose_fp32_matmul(const Request<MatmulPrecision>& asked,
                                             const Decision<PrecisionMode>& precision,
                                             const Target& target,
                                             const std::map<std::string, std::string>& variables) {
  constexpr std::string_view kOverride = "NVIDIA_TF32_OVERRIDE=0 switches TF32 off";
  const std::string lack = tf32_lack(target);
  const bool off = overridden(variables);
  if (asked.value == MatmulPrecision::kTf32) {
    if (!lack.empty()) {
      refuse("fp32_matmul", "tf32", asked.origin, lack, "ask for ieee");
    }
    return grant(asked, off ? kOverride : "");
  }
  if (asked.value == MatmulPrecision::kIeee) {
    require(precision.value != PrecisionMode::kTf32,
            "[plan.fp32_matmul] options contradict each other: precision=tf32 ({}), "
            "fp32_matmul=ieee ({}), expected fp32_matmul=tf32; ask for precision=fp32 or drop one",
            precision.reason, asked.origin);
    return grant(asked);
  }
  if (!lack.empty()) {
    return {MatmulPrecision::kIeee, Source::kFacts, lack};
  }
  if (off) {
    return {MatmulPrecision::kIeee, Source::kEnvironment, std::string(kOverride)};
  }
  if (precision.value == PrecisionMode::kTf32) {
    return {MatmulPrecision::kTf32, precision.source, "precision=tf32"};
  }
  if (precision.value == PrecisionMode::kFp32 && was_requested(precision.source)) {
    return {MatmulPrecision::kIeee, precision.source,
            "precision=fp32 was asked for; precision=tf32 would multiply in TF32"};
  }
  if (!target.capability) {
    return {MatmulPrecision::kIeee, Source::kDefault, "the compute capability is unknown"};
  }
  return {MatmulPrecision::kTf32, Source::kFacts,
          fill("{}: tensor cores take TF32 from 8.0 on", describe(*target.capability))};
}

}  // namespace libtrain
