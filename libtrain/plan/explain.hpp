#pragma once

#include <string>
#include <vector>

#include "libtrain/core/api.hpp"
#include "libtrain/plan/plan.hpp"

namespace libtrain {

/// How far a setting reaches.
enum class Scope {
  kScoped,   ///< undone when the Runtime ends
  kProcess,  ///< cannot be undone in this process
  kStart,    ///< of processes to come: `fasttrain env` prints its variables
  kLater,    ///< this build does not apply it yet
};

/// One row of the plan's table.
struct PlanRow {
  std::string key;     ///< "precision"
  std::string value;   ///< "bf16", or "pending: needs a model"
  std::string source;  ///< "facts"; empty while pending
  std::string scope;   ///< "scoped", "process", "start" or "later"
  std::string reason;
};

LT_API std::vector<PlanRow> plan_rows(const Plan& plan);
/// The rows as a table for people, reasons wrapped at `width` columns, and what the last two scopes
/// mean.
LT_API std::string explain(const Plan& plan, int width = 100);

/// The rows in which two plans decide differently, each with both values and their reasons, wrapped
/// at `width` columns; "no difference" when there is none. Equal values with other reasons are
/// none.
LT_API std::string describe_difference(const Plan& first, const std::string& first_name,
                                       const Plan& second, const std::string& second_name,
                                       int width = 100);

}  // namespace libtrain
