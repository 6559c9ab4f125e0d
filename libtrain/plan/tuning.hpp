#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "libtrain/core/api.hpp"
#include "libtrain/facts/cpu.hpp"
#include "libtrain/facts/measured.hpp"
#include "libtrain/plan/plan.hpp"

namespace libtrain {

// What `fasttrain tune` compares on a CPU, and what a measurement may choose.
inline constexpr std::array kTunedPrecisions{PrecisionMode::kFp32, PrecisionMode::kBf16};
inline constexpr std::array kTunedAttention{AttentionKind::kShort, AttentionKind::kMath};
inline constexpr std::array kTunedOptimizers{OptimizerForm::kOwnKernel, OptimizerForm::kFused};
inline constexpr std::array kTunedAllocators{AllocatorSetting::kUnchanged,
                                             AllocatorSetting::kGlibcThresholds};
/// The planned number, its half, and its double as far as this process may use as many CPUs.
LT_API std::vector<int> tuned_threads(int planned, const CpuFacts& cpu);

/// One decision and the values to measure it with, the planned one first.
struct TuningTrial {
  std::string key;                                      ///< "threads"
  std::string variable;                                 ///< "FASTTRAIN_THREADS"
  std::vector<std::string> values;                      ///< "2", "1"
  std::map<std::string, double> MeasuredFacts::*times;  ///< where the result belongs
};

/// One a decision that facts made: what the program or the environment decides is not tried.
LT_API std::vector<TuningTrial> tuning_trials(const Plan& plan, const CpuFacts& cpu);

}  // namespace libtrain
