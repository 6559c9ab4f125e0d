#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <utility>

#include "libtrain/core/error.hpp"
#include "libtrain/core/text.hpp"
#include "libtrain/facts/fields.hpp"
#include "tests/support/any_machine.hpp"

namespace libtrain {
namespace {

RC_GTEST_PROP(FactsRoundTrip, AnyMachineReadsBackUnchanged, ()) {
  const MachineFacts facts = any_machine();
  const std::string text = format_machine_facts(facts);
  RC_ASSERT(is_valid_utf8(text));
  RC_ASSERT(parse_machine_facts(text, "x") == facts);
}

RC_GTEST_PROP(FactsRoundTrip, TheOrderOfLinesMeansNothing, ()) {
  MachineFacts facts = any_machine();
  facts.gpus.resize(std::min<size_t>(facts.gpus.size(), 2));
  const std::string text = format_machine_facts(facts);
  std::vector<std::string_view> lines = split(text, '\n');
  for (size_t i = lines.size(); i > 2; --i) {  // all but the first
    std::swap(lines[i - 1], lines[*rc::gen::inRange<size_t>(1, i)]);
  }
  const std::vector<std::string> shuffled(lines.begin(), lines.end());
  RC_ASSERT(parse_machine_facts(join(shuffled, "\n"), "x") == facts);
}

RC_GTEST_PROP(FactsRoundTrip, AnyModelReadsBackUnchanged, ()) {
  ModelFacts facts;
  fill_facts(facts);
  RC_ASSERT(parse_model_facts(format_model_facts(facts), "x") == facts);
}

RC_GTEST_PROP(FactsRoundTrip, ADamagedFileIsReadOrRefusedAndNeverCrashes, ()) {
  std::string text = format_machine_facts(any_machine());
  const auto at = *rc::gen::inRange<size_t>(0, text.size());
  text[at] = *rc::gen::arbitrary<char>();
  try {
    parse_machine_facts(text, "x");
  } catch (const BadFile&) {
  }
}

/// Becomes whatever a member of a facts struct is, so that the compiler can count the members.
struct AnyField {
  template <class T>
  operator std::optional<T>() const;  // NOLINT(google-explicit-constructor)
  template <class T>
  operator std::map<std::string, T>() const;  // NOLINT(google-explicit-constructor)
};

template <class Facts, class... Fields>
constexpr int member_count() {
  if constexpr (requires { Facts{Fields{}..., AnyField{}}; }) {
    return member_count<Facts, Fields..., AnyField>();
  } else {
    return sizeof...(Fields);
  }
}

template <class Facts>
class FactsFields : public testing::Test {};

using AllFacts = testing::Types<HostFacts, CpuFacts, GpuDriverFacts, GpuFacts, LibraryFacts,
                                LaunchFacts, NetworkFacts, MeasuredFacts, ModelFacts>;
TYPED_TEST_SUITE(FactsFields, AllFacts);

TYPED_TEST(FactsFields, EveryMemberIsVisited) {
  int visited = 0;
  const TypeParam facts;
  visit_fields(facts, [&](std::string_view, const auto&) { ++visited; });
  EXPECT_EQ(visited, member_count<TypeParam>());
  EXPECT_GT(visited, 0);
}

}  // namespace
}  // namespace libtrain
