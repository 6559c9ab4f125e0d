#include "libtrain/kernels/isa.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "libtrain/core/error.hpp"
#include "libtrain/kernels/table.hpp"

namespace libtrain::kernels {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// In a child process, because the choice is made once per process.
[[noreturn]] void report_active(const char* value) {
  value == nullptr ? unsetenv("FASTTRAIN_ISA") : setenv("FASTTRAIN_ISA", value, 1);
  try {
    const bool table_agrees = &table() == &table(active_isa());
    std::fprintf(stderr, "%s", std::string(to_text(active_isa())).c_str());
    std::exit(table_agrees ? 0 : 1);
  } catch (const InvalidOption& error) {
    std::fprintf(stderr, "%s", error.what());
    std::exit(2);
  }
}

TEST(IsaTest, ScalarIsAlwaysThereAndComesFirst) {
  const std::vector<Isa> isas = available_isas();
  ASSERT_FALSE(isas.empty());
  EXPECT_EQ(isas.front(), Isa::kScalar);
  EXPECT_TRUE(std::is_sorted(isas.begin(), isas.end()));
}

#ifdef __x86_64__
TEST(IsaTest, AgreesWithWhatTheKernelSaysOfTheCpu) {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line) && !line.starts_with("flags")) {
  }
  if (!line.starts_with("flags")) {
    GTEST_SKIP() << "no flags in /proc/cpuinfo";
  }
  std::istringstream words(line.substr(line.find(':') + 1));
  const std::set<std::string> flags{std::istream_iterator<std::string>(words), {}};
  const auto has = [&](std::initializer_list<const char*> names) {
    return std::all_of(names.begin(), names.end(),
                       [&](const char* name) { return flags.contains(name); });
  };
  std::vector<Isa> expected{Isa::kScalar};
  if (has({"avx2", "fma"})) {
    expected.push_back(Isa::kAvx2);
    if (has({"avx512f", "avx512bw", "avx512dq", "avx512vl"})) {
      expected.push_back(Isa::kAvx512);
    }
  }
  EXPECT_EQ(available_isas(), expected);
}
#endif

TEST(IsaDeathTest, FastestIsActiveUnlessTheEnvironmentSaysOtherwise) {
  const std::string fastest(to_text(available_isas().back()));
  EXPECT_EXIT(report_active(nullptr), testing::ExitedWithCode(0), fastest);
}

TEST(IsaDeathTest, EnvironmentChoosesAnyAvailableOne) {
  for (const Isa isa : available_isas()) {
    const std::string name(to_text(isa));
    EXPECT_EXIT(report_active(name.c_str()), testing::ExitedWithCode(0), "^" + name + "$");
  }
}

TEST(IsaDeathTest, UnknownNameIsRefusedWithTheVariableItsTextAndTheChoices) {
  for (const char* bad : {"sse9", "AVX2", "avx2 ", "", "\x1b[31m"}) {
    EXPECT_EXIT(report_active(bad), testing::ExitedWithCode(2),
                AllOf(HasSubstr("[kernels.isa] "), HasSubstr("FASTTRAIN_ISA=\""),
                      HasSubstr("expected scalar"), Not(HasSubstr("\x1b"))));
  }
  EXPECT_EXIT(report_active("sse9"), testing::ExitedWithCode(2), "FASTTRAIN_ISA=\"sse9\"");
}

TEST(TableTest, UnavailableIsaIsRefused) {
  EXPECT_THROW(table(static_cast<Isa>(99)), InvalidOption);
}

}  // namespace
}  // namespace libtrain::kernels
