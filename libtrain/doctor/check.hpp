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
