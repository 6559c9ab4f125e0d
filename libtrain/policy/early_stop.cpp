#include "libtrain/policy/early_stop.hpp"

#include <cmath>

#include "libtrain/core/require.hpp"

namespace libtrain {
namespace {

bool improves(const EarlyStopOptions& options, const std::optional<double>& best, double metric) {
  if (!std::isfinite(metric)) {
    return false;
  }
  if (!best) {
    return true;
  }
  const double gain = options.better == Better::kLower ? *best - metric : metric - *best;
  return gain > options.min_delta;
}

}  // namespace

void check(const EarlyStopOptions& options) {
  require(
      options.patience >= 1,
      "[early_stop.check] no patience: patience={}, expected at least 1 evaluation; leave early "
      "stopping out to train to the end",
      options.patience);
  require(
      std::isfinite(options.min_delta) && options.min_delta >= 0,
      "[early_stop.check] value out of range: min_delta={}, expected a finite number from 0 up; "
      "correct it",
      options.min_delta);
}

EarlyStop next(const EarlyStopOptions& options, const EarlyStop& current, double metric) {
  EarlyStop after = current;
  if (improves(options, current.best, metric)) {
    after.best = metric;
    after.best_evaluation = current.evaluations;
  }
  ++after.evaluations;
  return after;
}

bool is_best(const EarlyStop& state) {
  return state.best && state.best_evaluation == state.evaluations - 1;
}

bool should_stop(const EarlyStopOptions& options, const EarlyStop& state) {
  return state.evaluations - 1 - state.best_evaluation >= options.patience;
}

}  // namespace libtrain
