#pragma once

#include <rapidcheck.h>

#include <cmath>

#include "libtrain/facts/fields.hpp"

namespace libtrain {

/// Any bytes: an environment variable need not be UTF-8.
inline void fill_value(std::string& value) {
  value = *rc::gen::oneOf(rc::gen::arbitrary<std::string>(), rc::gen::string<std::string>(),
                          rc::gen::container<std::string>(
                              rc::gen::elementOf(std::string("ab \"\\[],=#.\n\r\t\xC3\xA4\xFF"))));
}
inline void fill_value(bool& value) { value = *rc::gen::arbitrary<bool>(); }
inline void fill_value(int& value) { value = *rc::gen::nonNegative<int>(); }
inline void fill_value(int64_t& value) { value = *rc::gen::nonNegative<int64_t>(); }
inline void fill_value(double& value) { value = std::abs(*rc::gen::arbitrary<double>()); }
inline void fill_value(ComputeCapability& value) {
  value = {*rc::gen::inRange(1, 100), *rc::gen::inRange(0, 10)};
}
inline void fill_value(std::vector<std::string>& value) {
  value.resize(*rc::gen::inRange<size_t>(0, 5));
  for (std::string& item : value) {
    fill_value(item);
  }
}

inline void fill_value(std::vector<ShapeCount>& value) {
  value.resize(*rc::gen::inRange<size_t>(0, 4));
  for (ShapeCount& item : value) {
    item.dtype = *rc::gen::element<std::string>("float32", "bfloat16", "float8_e4m3fn");
    item.shape = *rc::gen::container<std::vector<int64_t>>(rc::gen::nonNegative<int64_t>());
    item.count = *rc::gen::inRange<int64_t>(1, 100);
  }
}

template <class T>
void fill_field(std::optional<T>& field) {
  if (*rc::gen::arbitrary<bool>()) {
    fill_value(field.emplace());
  }
}
template <class T>
void fill_field(std::map<std::string, T>& field) {
  for (int i = *rc::gen::inRange(0, 4); i > 0; --i) {
    std::string name;
    T value{};
    fill_value(name);
    fill_value(value);
    field[name] = value;
  }
}

template <class Facts>
void fill_facts(Facts& facts) {
  visit_fields(facts, [](std::string_view, auto& field) { fill_field(field); });
}

inline MachineFacts any_machine() {
  MachineFacts facts;
  visit_groups(facts, [](std::string_view, auto& fields) { fill_facts(fields); });
  const bool many = *rc::gen::inRange(0, 8) == 0;  // indices of two digits, which take their time
  facts.gpus.resize(*rc::gen::inRange<size_t>(0, many ? 12 : 4));
  for (GpuFacts& gpu : facts.gpus) {
    fill_facts(gpu);
  }
  return facts;
}

}  // namespace libtrain
