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
    OtherVariable{"FASTTRAIN_ISA", "scalar, avx2 or avx512", "instruction set of the CPU kernels"},
    OtherVariable{"FASTTRAIN_REQUIRE_GPU", "1",
                  "tests that need a GPU fail instead of being skipped"},
};

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
    if (option != table.end()) {
      require(option->read(text, options),
              "[plan.environment] value not allowed: {}={}, expected {}; correct or unset it", name,
              quote(text), option->allowed);
    } else if (std::ranges::find(kOthers, name, &OtherVariable::name) == kOthers.end()) {
      throw InvalidOption(
          fill("[plan.environment] unknown variable: name={}, expected one in docs/environment.md; "
               "correct or unset it{}",
               quote(name), suggestion(name, known_names())));
    }
  }
  return options;
}

}  // namespace libtrain
