#include "libtrain/policy/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "libtrain/core/require.hpp"

namespace libtrain {
namespace {

void check_steps(const char* name, int64_t warmup_steps, std::optional<int64_t> total_steps) {
  require(
      warmup_steps >= 0,
      "[schedule.{}] warm-up is negative: warmup_steps={}, expected at least 0; pass 0 for none",
      name, warmup_steps);
  if (total_steps) {
    require(
        *total_steps >= 1,
        "[schedule.{}] nothing to schedule: total_steps={}, expected at least 1; pass the number "
        "of optimizer updates",
        name, *total_steps);
    require(warmup_steps <= *total_steps,
            "[schedule.{}] warm-up is longer than the training: warmup_steps={}, total_steps={}, "
            "expected warmup_steps <= total_steps; shorten the warm-up",
            name, warmup_steps, *total_steps);
  }
}

void check_range(const char* name, const char* field, double value, double low, double high) {
  require(value >= low && value <= high,
          "[schedule.{}] value out of range: {}={}, expected {} to {}; correct it", name, field,
          value, low, high);
}

void check_positive(const char* name, const char* field, double value) {
  require(std::isfinite(value) && value > 0,
          "[schedule.{}] value out of range: {}={}, expected a finite number above 0; correct it",
          name, field, value);
}

double ratio(int64_t part, int64_t whole) {
  return static_cast<double>(part) / static_cast<double>(std::max<int64_t>(1, whole));
}

/// Progress through the steps after the warm-up, 0 to 1.
double progress(const Schedule& s, int64_t step) {
  return ratio(step - s.warmup_steps, s.total_steps - s.warmup_steps);
}

double half_cosine(double angle) { return 0.5 * (1.0 + std::cos(angle)); }

double cosine_factor(const Schedule& s, int64_t step) {
  const double fall = half_cosine(std::numbers::pi * s.cycles * 2.0 * progress(s, step));
  return std::max(0.0, fall * (1.0 - s.min_ratio) + s.min_ratio);
}

double inverse_sqrt_factor(const Schedule& s, int64_t step) {
  return 1.0 / std::sqrt(ratio(step - s.warmup_steps + s.timescale, s.timescale));
}

double anneal(double from, double to, double begin, double end, double step) {
  const double done = end > begin ? (step - begin) / (end - begin) : 1.0;
  return to + (from - to) * half_cosine(std::numbers::pi * done);
}

double one_cycle_factor(const Schedule& s, int64_t step) {
  const auto at = static_cast<double>(step);
  const double last = static_cast<double>(s.total_steps) - 1.0;
  const double peak = s.rising_fraction * static_cast<double>(s.total_steps) - 1.0;
  const double initial = 1.0 / s.div_factor;
  return at <= peak ? anneal(initial, 1.0, 0.0, peak, at)
                    : anneal(1.0, initial / s.final_div_factor, peak, last, at);
}

}  // namespace

Schedule constant(int64_t warmup_steps) {
  check_steps("constant", warmup_steps, std::nullopt);
  return {.kind = ScheduleKind::kConstant, .warmup_steps = warmup_steps};
}

Schedule linear_warmup(int64_t warmup_steps, int64_t total_steps) {
  check_steps("linear", warmup_steps, total_steps);
  return {.kind = ScheduleKind::kLinear, .warmup_steps = warmup_steps, .total_steps = total_steps};
}

Schedule cosine(int64_t warmup_steps, int64_t total_steps, double cycles, double min_ratio) {
  check_steps("cosine", warmup_steps, total_steps);
  check_positive("cosine", "cycles", cycles);
  check_range("cosine", "min_ratio", min_ratio, 0.0, 1.0);
  return {.kind = ScheduleKind::kCosine,
          .warmup_steps = warmup_steps,
          .total_steps = total_steps,
          .cycles = cycles,
          .min_ratio = min_ratio};
}

Schedule inverse_sqrt(int64_t warmup_steps, std::optional<int64_t> timescale) {
  check_steps("inverse_sqrt", warmup_steps, std::nullopt);
  require(
      !timescale || *timescale >= 1,
      "[schedule.inverse_sqrt] value out of range: timescale={}, expected at least 1; correct it",
      timescale.value_or(0));
  return {.kind = ScheduleKind::kInverseSqrt,
          .warmup_steps = warmup_steps,
          .timescale = timescale.value_or(warmup_steps > 0 ? warmup_steps : 10'000)};
}

Schedule one_cycle(int64_t total_steps, double rising_fraction, double div_factor,
                   double final_div_factor) {
  check_steps("one_cycle", 0, total_steps);
  check_range("one_cycle", "rising_fraction", rising_fraction, 0.0, 1.0);
  check_positive("one_cycle", "div_factor", div_factor);
  check_positive("one_cycle", "final_div_factor", final_div_factor);
  return {.kind = ScheduleKind::kOneCycle,
          .total_steps = total_steps,
          .rising_fraction = rising_fraction,
          .div_factor = div_factor,
          .final_div_factor = final_div_factor};
}

double factor(const Schedule& s, int64_t applied_steps) {
  require(
      applied_steps >= 0,
      "[schedule.factor] step is negative: applied_steps={}, expected at least 0; pass the number "
      "of applied updates",
      applied_steps);
  if (applied_steps < s.warmup_steps) {
    return ratio(applied_steps, s.warmup_steps);
  }
  switch (s.kind) {
    case ScheduleKind::kConstant:
      return 1.0;
    case ScheduleKind::kLinear:
      return std::max(0.0, ratio(s.total_steps - applied_steps, s.total_steps - s.warmup_steps));
    case ScheduleKind::kCosine:
      return cosine_factor(s, std::min(applied_steps, s.total_steps));
    case ScheduleKind::kInverseSqrt:
      return inverse_sqrt_factor(s, applied_steps);
    case ScheduleKind::kOneCycle:
      return one_cycle_factor(s, std::min(applied_steps, s.total_steps - 1));
  }
  throw InternalError("[schedule.factor] unknown kind of schedule");
}

}  // namespace libtrain
