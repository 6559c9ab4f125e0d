#include "libtrain/core/warning.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

namespace libtrain {
namespace {

TEST(Warning, IsDroppedWithoutAHandler) {
  const WarningHandler before = set_warning_handler(nullptr);
  warn("nobody hears this");
  set_warning_handler(before);
}

TEST(Warning, ReachesTheHandlerAndSurvivesOneThatThrows) {
  std::vector<std::string> seen;
  const WarningHandler before = set_warning_handler([&](const std::string& message) {
    seen.push_back(message);
    throw std::runtime_error("sink is full");
  });
  warn("one");
  warn("two");
  set_warning_handler(before);
  EXPECT_EQ(seen, (std::vector<std::string>{"one", "two"}));
}

}  // namespace
}  // namespace libtrain
