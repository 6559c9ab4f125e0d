#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "libtrain/core/text.hpp"
#include "libtrain/doctor/doctor.hpp"
#include "tests/support/any_machine.hpp"

namespace libtrain {
namespace {

RC_GTEST_PROP(Diagnose, AnyFactsGiveCompleteFindings, ()) {
  const auto findings = diagnose(any_machine());
  RC_ASSERT(findings.size() == doctor_checks().size());
  for (const Finding& finding : findings) {
    const bool ill = finding.verdict == Verdict::kWarn || finding.verdict == Verdict::kFail;
    RC_LOG() << finding.check << "\n";
    RC_ASSERT(!finding.evidence.empty());
    RC_ASSERT(ill == !finding.consequence.empty());
    RC_ASSERT(ill == !finding.remedy.empty());
  }
  RC_ASSERT(is_valid_utf8(findings_json(findings)));
}

}  // namespace
}  // namespace libtrain
