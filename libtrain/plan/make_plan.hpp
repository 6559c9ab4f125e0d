#pragma once

#include "libtrain/core/api.hpp"
#include "libtrain/facts/machine.hpp"
#include "libtrain/plan/options.hpp"
#include "libtrain/plan/plan.hpp"

namespace libtrain {

/// Decides everything the machine decides. Pure: equal arguments give equal plans.
/// Throws InvalidOption for a value out of range (code or FASTTRAIN_* variable, which is named with
/// its text) and for launch variables that contradict each other, Unsupported for a request this
/// machine or build cannot serve. Where nothing is asked, any other facts give a plan.
LT_API Plan make_plan(const PlanOptions& asked, const MachineFacts& machine);

/// The same plan completed with what depends on the model.
LT_API Plan complete_plan(const Plan& plan, const PlanOptions& asked, const MachineFacts& machine,
                          const ModelFacts& model);

}  // namespace libtrain
