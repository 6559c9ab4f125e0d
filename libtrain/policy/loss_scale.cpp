#include "libtrain/policy/loss_scale.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "libtrain/core/require.hpp"

namespace libtrain {
namespace {

constexpr double kLargest = std::numeric_limits<float>::max();

double as_float(double value) { return static_cast<double>(static_cast<float>(value)); }

}  // namespace

void check(const LossScaleOptions& o) {
  // Written so that NaN fails too.
  require(
      o.min_scale > 0 && o.min_scale <= o.initial && o.initial <= o.max_scale &&
          o.max_scale <= kLargest,
      "[loss_scale.check] scales out of order: min_scale={}, initial={}, max_scale={}, expected "
      "0 < min_scale <= initial <= max_scale, finite in fp32; correct them",
      o.min_scale, o.initial, o.max_scale);
  require(o.growth_factor > 1 && o.growth_factor <= kLargest,
          "[loss_scale.check] scale would not grow: growth_factor={}, expected above 1 and finite; "
          "the default is 2",
          o.growth_factor);
  require(
      o.backoff_factor > 0 && o.backoff_factor < 1,
      "[loss_scale.check] scale would not fall: backoff_factor={}, expected between 0 and 1; the "
      "default is 0.5",
      o.backoff_factor);
  require(o.growth_interval >= 1,
          "[loss_scale.check] no interval to grow after: growth_interval={}, expected at least 1; "
          "the default is 2000",
          o.growth_interval);
}

LossScale next(const LossScaleOptions& options, LossScale current, bool found_inf) {
  if (found_inf) {
    const double backed_off = as_float(current.scale * options.backoff_factor);
    return {.scale = as_float(std::max(options.min_scale, backed_off))};
  }
  if (current.growth_tracker + 1 < options.growth_interval) {
    return {.scale = current.scale, .growth_tracker = current.growth_tracker + 1};
  }
  const double grown = as_float(current.scale * options.growth_factor);
  return {.scale =
              std::isfinite(grown) ? as_float(std::min(options.max_scale, grown)) : current.scale};
}

}  // namespace libtrain
