#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "libtrain/core/error.hpp"
#include "libtrain/core/text.hpp"
#include "libtrain/facts/fields.hpp"

namespace libtrain {
namespace {

/// Any bytes: an environment variable need not be UTF-8.
void fill_value(std::string& value) {
  value = *rc::gen::oneOf(rc::gen::arbitrary<std::string>(), rc::gen::string<std::string>(),
                          rc::gen::container<std::string>(
                              rc::gen::elementOf(std::string("ab \"\\[],=#.\n\r\t\xC3\xA4\xFF"))));
}
void fill_value(bool& value) { value = *rc::gen::arbitrary<bool>(); }
void fill_value(int& value) { value = *rc::gen::nonNegative<int>(); }
void fill_value(int64_t& value) { value = *rc::gen::nonNegative<int64_t>(); }
void fill_value(double& value) { value = std::abs(*rc::gen::arbitrary<double>()); }
void fill_value(ComputeCapability& value) {
  value = {*rc::gen::inRange(1, 100), *rc::gen::inRange(0, 10)};
}
void fill_value(std::vector<std::string>& value) {
  value.resize(*rc::gen::inRange<size_t>(0, 5));
  for (std::string& item : value) {
    fill_value(item);
  }
}

template <class T>
void fill_field(std::optional<T>& field) {
  if (*rc::gen::arbitrary<bool>()) {
    fill_value(field.emplace());
  }
}
void fill_field(std::map<std::string, std::string>& field) {
  for (int i = *rc::gen::inRange(0, 4); i > 0; --i) {
    std::string name;
    std::string value;
    fill_value(name);
    fill_value(value);
    field[name] = value;
  }
}

template <class Facts>
void fill_facts(Facts& facts) {
  visit_fields(facts, [](std::string_view, auto& field) { fill_field(field); });
}

MachineFacts any_machine() {
  MachineFacts facts;
  visit_groups(facts, [](std::string_view, auto& fields) { fill_facts(fields); });
  facts.gpus.resize(*rc::gen::inRange<size_t>(0, 12));
  for (GpuFacts& gpu : facts.gpus) {
    fill_facts(gpu);
  }
  return facts;
}

RC_GTEST_PROP(FactsRoundTrip, AnyMachineReadsBackUnchanged, ()) {
  const MachineFacts facts = any_machine();
  const std::string text = format_machine_facts(facts);
  RC_ASSERT(is_valid_utf8(text));
  RC_ASSERT(parse_machine_facts(text, "x") == facts);
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
  operator std::optional<T>() const;                    // NOLINT(google-explicit-constructor)
  operator std::map<std::string, std::string>() const;  // NOLINT(google-explicit-constructor)
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
                                LaunchFacts, ModelFacts>;
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
