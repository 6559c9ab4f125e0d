#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "libtrain/core/api.hpp"
#include "libtrain/core/decision.hpp"
#include "libtrain/core/text.hpp"
#include "libtrain/plan/plan.hpp"

namespace libtrain {

/// A value must be faster than the facts' choice by this share to replace it: measurements of one
/// setting that is measured twice differ by less.
inline constexpr double kMeasuredGain = 0.03;

struct MeasuredChoice {
  std::string value;
  std::string reason;
};

/// The fastest value if it is faster than `planned` by kMeasuredGain, else `planned`; the times of
/// all in the reason. Nothing where `planned` was not measured. `milliseconds`: of a step, by
/// value.
LT_API std::optional<MeasuredChoice> measured_choice(
    std::string_view planned, const std::map<std::string, double>& milliseconds);

/// `decision`, or the one of `candidates` that was measured to be faster. What was asked for stays.
template <class T, class Candidates>
Decision<T> prefer_measured(Decision<T> decision, const std::map<std::string, double>& milliseconds,
                            const Candidates& candidates) {
  if (!is_unasked(decision.source)) {
    return decision;
  }
  std::map<std::string, T> possible;
  std::map<std::string, double> times;
  for (const T candidate : candidates) {
    const std::string text(to_text(candidate));
    if (const auto found = milliseconds.find(text); found != milliseconds.end()) {
      possible.emplace(text, candidate);
      times.insert(*found);
    }
  }
  if (const auto choice = measured_choice(std::string(to_text(decision.value)), times)) {
    return {possible.at(choice->value), Source::kMeasured, choice->reason};
  }
  return decision;
}

}  // namespace libtrain
