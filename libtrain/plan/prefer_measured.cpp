#include "libtrain/plan/prefer_measured.hpp"

#include <cmath>

namespace libtrain {
namespace {

std::string shown(const std::pair<const std::string, double>& measured) {
  return fill("{} ms with {}", std::round(measured.second * 10.0) / 10.0, measured.first);
}

}  // namespace

std::optional<MeasuredChoice> measured_choice(std::string_view planned,
                                              const std::map<std::string, double>& milliseconds) {
  const auto by_facts = milliseconds.find(std::string(planned));
  if (by_facts == milliseconds.end()) {
    return std::nullopt;
  }
  const auto fastest =
      std::ranges::min_element(milliseconds, {}, &std::pair<const std::string, double>::second);
  const auto best = fastest->second < by_facts->second * (1.0 - kMeasuredGain) ? fastest : by_facts;
  std::string others;
  for (auto other = milliseconds.begin(); other != milliseconds.end(); ++other) {
    others += other == best ? "" : ", " + shown(*other);
  }
  return MeasuredChoice{best->first, fill("a step measured: {}{}", shown(*best), others)};
}

}  // namespace libtrain
