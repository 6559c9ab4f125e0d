#include "libtrain/cli/exit_code.hpp"

#include <algorithm>

#include "libtrain/core/error.hpp"

namespace libtrain {

int exit_code_of(const std::exception& error) noexcept {
  if (const auto* file = dynamic_cast<const BadFile*>(&error)) {
    return file->fault() == FileFault::kContent ? kExitBadData : kExitInputOutput;
  }
  const bool configuration = dynamic_cast<const InvalidOption*>(&error) != nullptr ||
                             dynamic_cast<const Unsupported*>(&error) != nullptr;
  return configuration ? kExitConfiguration : kExitFailure;
}

int exit_code_of(const std::vector<Finding>& findings, bool strict) {
  const bool ill = std::ranges::any_of(findings, [strict](const Finding& finding) {
    return finding.verdict == Verdict::kFail || (strict && finding.verdict == Verdict::kWarn);
  });
  return ill ? kExitFailure : kExitDone;
}

}  // namespace libtrain
