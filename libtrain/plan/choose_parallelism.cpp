#include "libtrain/plan/choose_parallelism.hpp"

#include <array>

namespace libtrain {
namespace {

constexpr std::array kForms{ParallelForm::kDdp, ParallelForm::kZero1, ParallelForm::kZero2,
                            ParallelForm::kZero3};

}  // namespace

Decision<ParallelForm> choose_parallelism(const Request<ParallelForm>& asked,
                                          const MemoryEstimate& memory, int ranks) {
  if (asked.value) {
    if (*asked.value == ParallelForm::kAlone && ranks > 1) {
      refuse("parallelism", "alone", asked.origin, fill("there are {} processes", ranks),
             "start one process");
    }
    return grant_later(asked);
  }
  if (ranks < 2) {
    return {ParallelForm::kAlone, Source::kFacts, "one process"};
  }
  if (!memory.state() || !memory.usable) {
    return {
        ParallelForm::kDdp, Source::kDefault,
        memory.usable ? "the size of the model is unknown" : "the memory of the device is unknown"};
  }
  const std::string room = format_bytes(*memory.usable);
  for (const ParallelForm form : kForms) {
    const int64_t state = *state_per_rank(memory, form, ranks);
    if (state + memory.sample.value_or(0) <= *memory.usable) {
      return {form, Source::kFacts,
              fill("{} of weights, gradients and optimizer state a rank fit into {}",
                   format_bytes(state), room)};
    }
  }
  return {ParallelForm::kZero3, Source::kFacts,
          fill("even {} of state a rank do not fit into {}",
               format_bytes(*state_per_rank(memory, ParallelForm::kZero3, ranks)), room)};
}

}  // namespace libtrain
