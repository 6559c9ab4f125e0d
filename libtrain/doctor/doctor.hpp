#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "libtrain/core/api.hpp"
#include "libtrain/facts/machine.hpp"

namespace libtrain {

enum class Verdict {
  kPass,
  kWarn,  ///< training works, slower or less safely than it could
  kFail,  ///< training does not start, gives wrong numbers, or leaves hardware unused
  kSkip,  ///< does not apply here, or the facts it needs are unknown
};

/// "PASS", "WARN", "FAIL", "SKIP".
LT_API std::string_view to_text(Verdict verdict);

/// What one check says of a machine.
struct Finding {
  std::string check;  ///< "memory.shm": its area and its name
  Verdict verdict = Verdict::kSkip;
  std::string evidence;     ///< the facts that decided; of a skipped check, why
  std::string consequence;  ///< what it does to training; WARN and FAIL only
  std::string remedy;       ///< the command or setting that mends it; WARN and FAIL only
};

/// Every check's finding, area by area. Pure: equal facts give equal findings, and any facts give
/// findings; what is unknown is skipped, never guessed.
LT_API std::vector<Finding> diagnose(const MachineFacts& machine);

/// The findings for people: one line each, and under a WARN or FAIL what it means and what mends
/// it; a count of each verdict at the end. Wrapped at `width` columns.
LT_API std::string describe_findings(const std::vector<Finding>& findings, int width = 100);

/// The findings as a JSON list of objects: check, verdict, evidence, consequence, remedy. Bytes
/// that are not UTF-8 become U+FFFD.
LT_API std::string findings_json(const std::vector<Finding>& findings);

/// Name and question of every check, in the order of their findings.
struct CheckInfo {
  std::string_view name;
  std::string_view question;
};
LT_API std::vector<CheckInfo> doctor_checks();

/// "memory.shm" → "memory".
LT_API std::string_view area_of(std::string_view check);
/// The areas in the order of their findings.
LT_API std::vector<std::string_view> doctor_areas();

}  // namespace libtrain
