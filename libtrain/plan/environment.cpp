#include "libtrain/plan/environment.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "libtrain/core/require.hpp"
#include "libtrain/plan/nearest_name.hpp"
#include "libtrain/plan/option_table.hpp"

namespace libtrain {
namespace {

constexpr std::string_view kPrefix = "FASTTRAIN_";

constexpr std::array kOthers{
    OtherVariable{"FASTTRAIN_ISA", "scalar, avx2 or avx512", "instruction set of the CPU kernels",
                  [](std::string_view text) {
                    return text == "scalar" || text == "avx2" || text == "avx512";
                  }},
    OtherVariable{"FASTTRAIN_MEASURED", "off", "what `fasttrain tune` measured is not used",
                  [](std::string_view text) { return text == "off"; }},
    OtherVariable{"FASTTRAIN_REQUIRE_GPU", "1",
                  "tests that need a GPU fail instead of being skipped",
                  [](std::string_view text) { return text == "1"; }},
};

void require_allowed(bool allowed, const std::string& name, const std::string& text,
                     std::string_view expected) {
  require(allowed, "[plan.environment] value not allowed: {}={}, expected {}; correct or unset it",
          name, quote(text), expected);
}

std::vector<std::string_view> known_names() {
  std::vector<std::string_view> names;
  for (const OptionInfo& option : option_table()) {
    if (!option.variable.empty()) {
      names.push_back(option.variable);
    }
  }
  std::ranges::transform(kOthers, std::back_inserter(names), &OtherVariable::name);
  return names;
}

}  // namespace

std::span<const OtherVariable> other_variables() { return kOthers; }

PlanOptions read_environment(const std::map<std::string, std::string>& variables) {
  PlanOptions options;
  for (const auto& [name, text] : variables) {
    if (!name.starts_with(kPrefix)) {
      continue;
    }
    const auto table = option_table();
    const auto option = std::ranges::find(table, name, &OptionInfo::variable);
    const auto* const other = std::ranges::find(kOthers, name, &OtherVariable::name);
    if (option != table.end()) {
      require_allowed(option->read(text, options), name, text, option->allowed);
    } else if (other != kOthers.end()) {
      require_allowed(other->is_allowed(text), name, text, other->allowed);
    } else {
      throw InvalidOption(
          fill("[plan.environment] unknown variable: name={}, expected one in docs/environment.md; "
               "correct or unset it{}",
               quote(name), suggestion(name, known_names())));
    }
  }
  return options;
}

}  // namespace libtrain
