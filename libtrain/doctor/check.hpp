#pragma once

#include <span>
#include <string>
#include <string_view>

#include "libtrain/doctor/doctor.hpp"
#include "libtrain/doctor/examined.hpp"

namespace libtrain {

/// A finding without the name of its check.
struct Outcome {
  Verdict verdict;
  std::string evidence;
  std::string consequence = {};
  std::string remedy = {};
};

inline Outcome pass(std::string evidence) { return {Verdict::kPass, std::move(evidence)}; }
inline Outcome skip(std::string why) { return {Verdict::kSkip, std::move(why)}; }
inline Outcome warn_of(std::string evidence, std::string consequence, std::string remedy) {
  return {Verdict::kWarn, std::move(evidence), std::move(consequence), std::move(remedy)};
}
inline Outcome fail(std::string evidence, std::string consequence, std::string remedy) {
  return {Verdict::kFail, std::move(evidence), std::move(consequence), std::move(remedy)};
}

/// Asks `judge(gpu)` of each GPU in turn and gives the first finding; `good` where none has one,
/// and at least one told what is asked; `unknown` where none did. `judge` answers unknown() for
/// those.
template <class Judge>
Outcome judge_each(const std::vector<const GpuFacts*>& gpus, Judge judge, std::string good,
                   std::string unknown) {
  bool known = false;
  for (const GpuFacts* gpu : gpus) {
    Outcome outcome = judge(*gpu);
    if (outcome.verdict == Verdict::kWarn || outcome.verdict == Verdict::kFail) {
      return outcome;
    }
    known = known || outcome.verdict == Verdict::kPass;
  }
  return known ? pass(std::move(good)) : skip(std::move(unknown));
}
/// Answers of a judge without a finding.
inline Outcome fine() { return pass(""); }
inline Outcome unknown() { return skip(""); }

struct Check {
  std::string_view name;      ///< "memory.shm"; the part before the dot is its area
  std::string_view question;  ///< what it asks, in a few words
  Outcome (*run)(const Examined& seen);
};

// One file an area.
std::span<const Check> driver_checks();
std::span<const Check> gpu_checks();
std::span<const Check> gpu_health_checks();
std::span<const Check> link_checks();
std::span<const Check> network_checks();
std::span<const Check> memory_checks();
std::span<const Check> cpu_checks();
std::span<const Check> environment_checks();
std::span<const Check> settings_checks();
std::span<const Check> launch_checks();
std::span<const Check> disk_checks();

}  // namespace libtrain
