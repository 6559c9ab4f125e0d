#pragma once

#include <map>
#include <optional>
#include <string>

namespace libtrain {

/// How long a training step of a small transformer took on this machine's CPU with each value of a
/// decision, all else as planned: milliseconds by value, as the plan spells it. Empty where nothing
/// was measured. `fasttrain tune` writes them.
struct MeasuredFacts {
  std::optional<std::string> date;  ///< "2026-03-14"
  std::map<std::string, double> precision;
  std::map<std::string, double> attention;
  std::map<std::string, double> optimizer;
  std::map<std::string, double> threads;
  std::map<std::string, double> allocator;
  std::optional<std::string> problem;  ///< why what is kept cannot be used

  friend bool operator==(const MeasuredFacts&, const MeasuredFacts&) = default;
};

}  // namespace libtrain
