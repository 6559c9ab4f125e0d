#include "libtrain/plan/choose_memory_format.hpp"

namespace libtrain {

Decision<MemoryFormat> choose_memory_format(const Request<MemoryFormat>& asked,
                                            const Target& target, PrecisionMode precision,
                                            const ModelFacts& model) {
  if (asked.value) {
    return grant(asked);
  }
  if (!model.has_convolutions) {
    return {MemoryFormat::kContiguous, Source::kDefault,
            "whether the model has convolutions is unknown"};
  }
  if (!*model.has_convolutions) {
    return {MemoryFormat::kContiguous, Source::kFacts, "the model has no convolutions"};
  }
  if (target.type == DeviceType::kCpu) {
    return {MemoryFormat::kChannelsLast, Source::kFacts, "convolutions on the CPU"};
  }
  const bool in_16_bit = precision == PrecisionMode::kBf16 || precision == PrecisionMode::kFp16;
  if (!in_16_bit) {
    return {MemoryFormat::kContiguous, Source::kFacts,
            fill("convolutions in {} on CUDA gain nothing from channels_last", to_text(precision))};
  }
  if (target.tensor_cores != true) {
    return {MemoryFormat::kContiguous, target.tensor_cores ? Source::kFacts : Source::kDefault,
            target.tensor_cores ? "the GPU has no tensor cores"
                                : "whether the GPU has tensor cores is unknown"};
  }
  return {MemoryFormat::kChannelsLast, Source::kFacts,
          fill("convolutions in {} on tensor cores", to_text(precision))};
}

}  // namespace libtrain
