#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "libtrain/core/error.hpp"
#include "libtrain/core/text.hpp"
#include "libtrain/doctor/doctor.hpp"
#include "libtrain/facts/machine.hpp"
#include "libtrain/facts/redact.hpp"
#include "libtrain/facts/view.hpp"
#include "libtrain/plan/explain.hpp"
#include "libtrain/plan/make_plan.hpp"

namespace {

using namespace libtrain;

void require_that(bool holds) {
  if (!holds) {
    std::abort();
  }
}

/// What reads back is told, planned for, examined and redacted.
void use(const MachineFacts& facts) {
  require_that(parse_machine_facts(format_machine_facts(facts), "again") == facts);
  require_that(is_valid_utf8(machine_facts_json(facts)));
  require_that(!describe_machine(facts).empty());
  require_that(!diagnose(facts).empty());
  const MachineFacts redacted = redact(facts, {});
  require_that(redact(redacted, {}) == redacted);
  try {
    require_that(!explain(make_plan({}, facts)).empty());
  } catch (const Error&) {
  }
}

template <class Read>
void read_or_refuse(size_t size, const Read& read) {
  try {
    read();
  } catch (const BadFile& error) {
    require_that(error.file() == "input" && error.offset() >= 0 &&
                 error.offset() <= static_cast<int64_t>(size));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  read_or_refuse(size, [&] { use(parse_machine_facts(text, "input")); });
  read_or_refuse(size, [&] {
    const ModelFacts model = parse_model_facts(text, "input");
    require_that(parse_model_facts(format_model_facts(model), "again") == model);
  });
  return 0;
}
