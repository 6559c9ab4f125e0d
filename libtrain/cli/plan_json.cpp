#include "libtrain/cli/plan_json.hpp"

#include "libtrain/plan/explain.hpp"

namespace libtrain {

nlohmann::ordered_json plan_json(const Plan& plan) {
  auto rows = nlohmann::ordered_json::array();
  for (const PlanRow& row : plan_rows(plan)) {
    rows.push_back({{"decision", row.key},
                    {"value", row.value},
                    {"source", row.source},
                    {"scope", row.scope},
                    {"reason", row.reason}});
  }
  return rows;
}

}  // namespace libtrain
