#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "libtrain/core/api.hpp"
#include "libtrain/plan/options.hpp"

namespace libtrain {

/// A FASTTRAIN_* variable that sets no option of the plan; another part reads it.
struct OtherVariable {
  std::string_view name;
  std::string_view allowed;
  std::string_view meaning;
  bool (*is_allowed)(std::string_view text);
};
LT_API std::span<const OtherVariable> other_variables();

/// The options that FASTTRAIN_* variables ask for. Throws InvalidOption for a value that is not
/// allowed and for a FASTTRAIN_* name that nothing reads: a misspelt setting is no setting.
LT_API PlanOptions read_environment(const std::map<std::string, std::string>& variables);

}  // namespace libtrain
