#include "libtrain/facts/compute_capability.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace libtrain {
namespace {

TEST(ComputeCapability, ReadsEveryFormToolsWrite) {
  const std::vector<std::pair<std::string, ComputeCapability>> table = {
      {"8.0", {8, 0}},      {"7.5", {7, 5}},          {"12.0", {12, 0}},    {"9.0a", {9, 0}},
      {"10.0f", {10, 0}},   {"8.0+PTX", {8, 0}},      {"9.0a+PTX", {9, 0}}, {"sm_80", {8, 0}},
      {"sm_120", {12, 0}},  {"sm_103", {10, 3}},      {"sm_90a", {9, 0}},   {"compute_90", {9, 0}},
      {"sm_100f", {10, 0}}, {"compute_120", {12, 0}},
  };
  for (const auto& [text, expected] : table) {
    EXPECT_EQ(parse_compute_capability(text), expected) << text;
  }
}

TEST(ComputeCapability, RefusesEverythingElse) {
  for (const std::string text :
       {"",      "8",    "80",   ".0",   "8.",   "8.0.0",  "8.10",    "120.0",
        "0.5",   "-8.0", "8.-0", "sm_",  "sm_8", "sm_8.0", "sm_1200", "sm_-80",
        "SM_80", "8.0b", "a",    "+PTX", " 8.0", "8.0 ",   "8,0"}) {
    EXPECT_EQ(parse_compute_capability(text), std::nullopt) << text;
  }
}

TEST(ComputeCapability, OrdersByPartsAndNotAsDecimalsOrText) {
  EXPECT_LT((ComputeCapability{9, 0}), (ComputeCapability{12, 0}));
  EXPECT_LT((ComputeCapability{10, 0}), (ComputeCapability{10, 3}));
  EXPECT_GT((ComputeCapability{8, 0}), (ComputeCapability{7, 5}));
}

TEST(ComputeCapability, WritesWhatItReads) {
  EXPECT_EQ(to_text(ComputeCapability{12, 0}), "12.0");
  EXPECT_EQ(parse_compute_capability(to_text(ComputeCapability{10, 3})),
            (ComputeCapability{10, 3}));
}

}  // namespace
}  // namespace libtrain
