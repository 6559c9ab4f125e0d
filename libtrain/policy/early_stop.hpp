#pragma once

#include <cstdint>
#include <optional>

#include "libtrain/core/api.hpp"

namespace libtrain {

enum class Better { kLower, kHigher };

struct EarlyStopOptions {
  Better better = Better::kLower;
  int64_t patience = 3;    ///< evaluations in a row without improvement after which to stop
  double min_delta = 0.0;  ///< an improvement is better than the best by more than this
};

/// Throws InvalidOption unless patience >= 1 and min_delta is finite and not negative.
LT_API void check(const EarlyStopOptions& options);

/// The evaluations so far. The first finite value is an improvement; one that is not finite never
/// is, so it cannot become the best and counts against patience.
struct EarlyStop {
  std::optional<double> best;
  int64_t best_evaluation = -1;  ///< index of the best, -1 when there is none
  int64_t evaluations = 0;

  friend bool operator==(const EarlyStop&, const EarlyStop&) = default;
};

/// The state after an evaluation that gave `metric`.
LT_API EarlyStop next(const EarlyStopOptions& options, const EarlyStop& current, double metric);

/// The last evaluation gave the best value so far.
LT_API bool is_best(const EarlyStop& state);
/// `patience` evaluations went by since the best one, or since the start without any.
LT_API bool should_stop(const EarlyStopOptions& options, const EarlyStop& state);

}  // namespace libtrain
