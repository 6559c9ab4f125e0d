#pragma once

#include <cstdint>

#include "libtrain/core/api.hpp"

namespace libtrain {

/// Dynamic loss scaling for fp16, with PyTorch's defaults.
struct LossScaleOptions {
  double initial = 65536.0;
  double growth_factor = 2.0;
  double backoff_factor = 0.5;
  int64_t growth_interval = 2000;  ///< finite steps in a row until the scale grows
  double min_scale = 1.0;          ///< as DeepSpeed: below 1 a scale only loses gradients to zero
  double max_scale = 16777216.0;   ///< 2^24, as Apex
};

/// Throws InvalidOption unless 0 < min_scale <= initial <= max_scale, all finite in fp32,
/// growth_factor > 1, 0 < backoff_factor < 1 and growth_interval >= 1.
LT_API void check(const LossScaleOptions& options);

struct LossScale {
  double scale = 1.0;
  int64_t growth_tracker = 0;  ///< finite steps since the scale last changed

  friend bool operator==(const LossScale&, const LossScale&) = default;
};

/// The scale after a step, as torch._amp_update_scale_ gives it: backs off at once when a gradient
/// was not finite, grows after growth_interval finite steps in a row unless that would be infinite;
/// then kept within min_scale and max_scale. A value of fp32, as on a device.
LT_API LossScale next(const LossScaleOptions& options, LossScale current, bool found_inf);

}  // namespace libtrain
