#include "libtrain/amp/planned_autocast.hpp"

namespace libtrain {

AutocastState planned_autocast(const Plan& plan) {
  const PrecisionMode precision = plan.precision.value;
  const bool on_cuda = plan.device.value.type == DeviceType::kCuda;
  return {.device = on_cuda ? c10::DeviceType::CUDA : c10::DeviceType::CPU,
          .dtype =
              precision == PrecisionMode::kFp16 ? c10::ScalarType::Half : c10::ScalarType::BFloat16,
          .enabled = precision == PrecisionMode::kBf16 || precision == PrecisionMode::kFp16};
}

}  // namespace libtrain
