#include "libtrain/amp/planned_autocast.hpp"

namespace libtrain {

AutocastState planned_autocast(const Runtime& runtime) {
  const PrecisionMode precision = runtime.plan().precision.value;
  return {.device = runtime.device().type(),
          .dtype =
              precision == PrecisionMode::kFp16 ? c10::ScalarType::Half : c10::ScalarType::BFloat16,
          .enabled = precision == PrecisionMode::kBf16 || precision == PrecisionMode::kFp16};
}

}  // namespace libtrain
