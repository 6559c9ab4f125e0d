#include "libtrain/plan/tuning.hpp"

#include <algorithm>
#include <set>

#include "libtrain/core/text.hpp"
#include "libtrain/plan/option_table.hpp"

namespace libtrain {
namespace {

class Trials {
 public:
  template <class T, class Candidates>
  void add(std::string_view key, const Decision<T>& decision, const Candidates& candidates,
           std::map<std::string, double> MeasuredFacts::*times) {
    if (!is_unasked(decision.source)) {
      return;
    }
    TuningTrial trial{.key = std::string(key),
                      .variable = std::string(variable_of(key)),
                      .values = {std::string(to_text(decision.value))},
                      .times = times};
    for (const T candidate : candidates) {
      if (candidate != decision.value) {
        trial.values.emplace_back(to_text(candidate));
      }
    }
    if (trial.values.size() > 1) {
      trials_.push_back(std::move(trial));
    }
  }

  std::vector<TuningTrial> take() { return std::move(trials_); }

 private:
  std::vector<TuningTrial> trials_;
};

}  // namespace

std::vector<int> tuned_threads(int planned, const CpuFacts& cpu) {
  const int most = std::max(cpu.affinity_cpus.value_or(planned), planned);
  const std::set<int> different{std::max(planned / 2, 1), planned,
                                planned <= most / 2 ? planned * 2 : planned};
  return {different.begin(), different.end()};
}

std::vector<TuningTrial> tuning_trials(const Plan& plan, const CpuFacts& cpu) {
  Trials trials;
  trials.add("threads", plan.threads, tuned_threads(plan.threads.value, cpu),
             &MeasuredFacts::threads);
  trials.add("precision", plan.precision, kTunedPrecisions, &MeasuredFacts::precision);
  trials.add("attention", plan.attention, kTunedAttention, &MeasuredFacts::attention);
  trials.add("optimizer", plan.optimizer, kTunedOptimizers, &MeasuredFacts::optimizer);
  trials.add("allocator", plan.allocator, kTunedAllocators, &MeasuredFacts::allocator);
  return trials.take();
}

}  // namespace libtrain
