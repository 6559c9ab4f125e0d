#pragma once

#include <nlohmann/json.hpp>

#include "libtrain/core/api.hpp"
#include "libtrain/plan/plan.hpp"

namespace libtrain {

/// The plan's rows as a list of objects: decision, value, source, scope, reason.
LT_API nlohmann::ordered_json plan_json(const Plan& plan);

}  // namespace libtrain
