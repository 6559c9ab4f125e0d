#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "libtrain/policy/early_stop.hpp"
#include "libtrain/policy/loss_scale.hpp"
#include "libtrain/policy/schedule.hpp"

namespace libtrain {
namespace {

RC_GTEST_PROP(LossScaleProperty, StaysInRangeWhateverHappens,
              (const std::vector<bool>& found_inf)) {
  const LossScaleOptions options{.initial = 8.0,
                                 .growth_factor = 3.0,
                                 .growth_interval = 2,
                                 .min_scale = 0.3,
                                 .max_scale = 100};
  LossScale scale{.scale = options.initial};
  for (const bool found : found_inf) {
    const LossScale before = scale;
    scale = next(options, scale, found);
    RC_ASSERT(scale.scale >= 0.3F && scale.scale <= options.max_scale);
    RC_ASSERT(scale.growth_tracker >= 0 && scale.growth_tracker < options.growth_interval);
    RC_ASSERT((found ? scale.scale <= before.scale : scale.scale >= before.scale));
  }
}

RC_GTEST_PROP(EarlyStopProperty, TheBestIsTheLeastFiniteMetric, (std::vector<double> metrics)) {
  if (!metrics.empty() && *rc::gen::arbitrary<bool>()) {
    metrics[*rc::gen::inRange<size_t>(0, metrics.size())] =
        std::numeric_limits<double>::quiet_NaN();
  }
  EarlyStop state;
  double least = std::numeric_limits<double>::infinity();
  for (const double metric : metrics) {
    const bool better = std::isfinite(metric) && metric < least;
    state = next({}, state, metric);
    RC_ASSERT(is_best(state) == better);
    least = better ? metric : least;
  }
  RC_ASSERT(state.best.value_or(std::numeric_limits<double>::infinity()) == least);
}

RC_GTEST_PROP(ScheduleProperty, TheFactorIsAFraction, ()) {
  const int64_t total = *rc::gen::inRange<int64_t>(1, 1000);
  const int64_t warmup = *rc::gen::inRange<int64_t>(0, total + 1);
  const int64_t step = *rc::gen::inRange<int64_t>(0, 2 * total);
  const double share = static_cast<double>(warmup) / static_cast<double>(total);
  for (const Schedule& schedule :
       {constant(warmup), linear_warmup(warmup, total), cosine(warmup, total, 1.5, share),
        inverse_sqrt(warmup), one_cycle(total, share)}) {
    const double value = factor(schedule, step);
    RC_ASSERT(value >= 0.0 && value <= 1.0);
  }
}

}  // namespace
}  // namespace libtrain
