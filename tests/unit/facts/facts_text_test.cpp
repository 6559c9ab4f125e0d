#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "libtrain/core/error.hpp"
#include "libtrain/facts/machine.hpp"

namespace libtrain {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kHead = "libtrain-facts 1\n";

/// The error of reading `lines` under the head line.
BadFile error_of(const std::string& lines, const std::string& head = kHead) {
  try {
    parse_machine_facts(head + lines, "some.facts");
  } catch (const BadFile& error) {
    return error;
  }
  ADD_FAILURE() << "accepted: " << lines;
  return {"", ""};
}

TEST(FactsText, WritesOneKnownFactALine) {
  MachineFacts facts;
  facts.cpu.avx2 = true;
  facts.cpu.quota_cpus = 2.5;
  facts.host.memory_bytes = 1024;
  facts.launch.variables["OMP_NUM_THREADS"] = "4";
  facts.library.cuda_archs = {"sm_80", "sm_90"};
  facts.gpus.resize(2);
  facts.gpus[1].name = "NVIDIA A100-SXM4-80GB";
  facts.gpus[1].compute_capability = ComputeCapability{8, 0};
  EXPECT_EQ(format_machine_facts(facts),
            "libtrain-facts 1\n"
            "host.memory_bytes = 1024\n"
            "cpu.quota_cpus = 2.5\n"
            "cpu.avx2 = true\n"
            "library.cuda_archs = [sm_80, sm_90]\n"
            "launch.variable.OMP_NUM_THREADS = 4\n"
            "gpu.count = 2\n"
            "gpu.1.name = NVIDIA A100-SXM4-80GB\n"
            "gpu.1.compute_capability = 8.0\n");
}

TEST(FactsText, ReadsCommentsSpacesAndLineEndsOfOtherSystems) {
  const MachineFacts facts = parse_machine_facts(
      "libtrain-facts 1\r\n# a comment\r\n\r\n  cpu.cores=4\r\n\thost.os =  linux \r\n"
      "launch.launcher = a # b\n",
      "x");
  EXPECT_EQ(facts.cpu.cores, 4);
  EXPECT_EQ(facts.host.os, "linux");
  EXPECT_EQ(facts.launch.launcher, "a # b");
}

TEST(FactsText, QuotesOnlyWhatWouldNotReadBack) {
  MachineFacts facts;
  facts.host.os = "a = b # c";
  facts.host.kernel = "";
  facts.host.libc = " edge";
  facts.cpu.model = "\"q\\\n\t\x01";
  facts.cpu.architecture = "latin \xE9";
  facts.gpu_driver.visible_devices = "[";
  facts.gpu_driver.problem = "größer";
  facts.library.cuda_archs = {"a,b", "", "c d", "e]"};
  facts.launch.variables["NCCL_A B=C"] = "1";
  const std::string text = format_machine_facts(facts);
  EXPECT_THAT(text, HasSubstr("host.os = a = b # c\n"));
  EXPECT_THAT(text, HasSubstr("host.kernel = \"\"\n"));
  EXPECT_THAT(text, HasSubstr("host.libc = \" edge\"\n"));
  EXPECT_THAT(text, HasSubstr("cpu.model = \"\\\"q\\\\\\n\\t\\x01\"\n"));
  EXPECT_THAT(text, HasSubstr("cpu.architecture = \"latin \\xe9\"\n"));
  EXPECT_THAT(text, HasSubstr("gpu_driver.visible_devices = \"[\"\n"));
  EXPECT_THAT(text, HasSubstr("gpu_driver.problem = größer\n"));
  EXPECT_THAT(text, HasSubstr("library.cuda_archs = [\"a,b\", \"\", c d, \"e]\"]\n"));
  EXPECT_THAT(text, HasSubstr("launch.variable.\"NCCL_A B\\x3dC\" = 1\n"));
  EXPECT_EQ(parse_machine_facts(text, "x"), facts);
}

TEST(FactsText, AnEmptyListIsKnownAndAMissingOneIsNot) {
  EXPECT_EQ(
      parse_machine_facts(std::string(kHead) + "library.cuda_archs = []\n", "x").library.cuda_archs,
      std::vector<std::string>{});
  EXPECT_EQ(parse_machine_facts(kHead, "x").library.cuda_archs, std::nullopt);
}

TEST(FactsText, AnErrorNamesFileLineKeyAndWhatWasExpected) {
  const BadFile error = error_of("# one\ncpu.avx2 = maybe\n");
  EXPECT_EQ(error.file(), "some.facts");
  EXPECT_EQ(error.fault(), FileFault::kContent);
  EXPECT_EQ(error.offset(), 17 + 6);  // the bytes of the head and of the comment
  EXPECT_STREQ(error.what(),
               "[facts.parse] the value is of the wrong kind: cpu.avx2=\"maybe\", expected true or "
               "false; correct \"some.facts\" line 3, or record it anew with `fasttrain probe "
               "--record`");
}

TEST(FactsText, RefusesWhatItDoesNotUnderstand) {
  const std::vector<std::pair<std::string, std::string>> table = {
      {"cpu.avx3 = true", "no fact has this name: key=\"cpu.avx3\""},
      {"model.name = x", "no fact has this name"},
      {"gpu.0.name = x", "no fact has this name"},
      {"gpu.count = 1\ngpu.1.name = x", "key=\"gpu.1.name\""},
      {"gpu.count = 1\ngpu.00.name = x", "key=\"gpu.00.name\""},
      {"gpu.count = 1000000000", "expected an integer from 0 to 4096"},
      {"gpu.count = -1", "expected an integer from 0 to 4096"},
      {"cpu.cores = 4\ncpu.cores = 4", "given twice: key=\"cpu.cores\""},
      {"launch.variable.A = 1\nlaunch.variable.\"A\" = 1", "given twice"},
      {"launch.variable. = 1", "is no name"},
      {"launch.variable.A-B = 1", "is no name"},
      {"launch.variable.\"A = 1", "is no name"},
      {"just words", "neither `key = value` nor a # comment"},
      {"cpu.cores = -1", "expected an integer from 0 to 2147483647"},
      {"cpu.cores = 2147483648", "expected an integer from 0 to 2147483647"},
      {"cpu.cores = 4.0", "expected an integer"},
      {"cpu.cores =", "expected an integer"},
      {"host.memory_bytes = 9223372036854775808", "expected an integer of at least 0"},
      {"cpu.quota_cpus = nan", "expected a finite number"},
      {"cpu.quota_cpus = inf", "expected a finite number"},
      {"cpu.quota_cpus = -1", "expected a finite number"},
      {"cpu.avx2 = 1", "expected true or false"},
      {"host.os =", "expected text"},
      {"host.os = \"open", "expected text"},
      {"host.os = \"a\" b", "expected text"},
      {"host.os = \"\\q\"", "expected text"},
      {"host.os = \"\\x4\"", "expected text"},
      {"host.os = a\"b", "expected text"},
      {"host.os = [a", "expected text"},
      {"library.cuda_archs = sm_80", "expected a list"},
      {"library.cuda_archs = [", "expected a list"},
      {"library.cuda_archs = [a,]", "expected a list"},
      {"library.cuda_archs = [,a]", "expected a list"},
      {"library.cuda_archs = [\"a\" \"b\"]", "expected a list"},
      {"gpu.count = 1\ngpu.0.compute_capability = 8", "expected a compute capability"},
      {"host.os = \xFF", "not UTF-8"},
      {"# \xFF", "not UTF-8"},
  };
  for (const auto& [lines, expected] : table) {
    EXPECT_THAT(error_of(lines).what(), HasSubstr(expected)) << lines;
  }
}

TEST(FactsText, RefusesAFileOfAnotherKindOrVersion) {
  for (const std::string head : {"", "libtrain-facts 2\n", "{}\n", "# c\nlibtrain-facts 1\n"}) {
    const BadFile error = error_of("", head);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("does not start as a facts file of this version"),
                                    HasSubstr("expected \"libtrain-facts 1\"")));
    EXPECT_EQ(error.offset(), 0);
  }
}

TEST(FactsText, ReportsTheFirstUnknownKeyOfTheFile) {
  EXPECT_THAT(error_of("zzz = 1\naaa = 1\n").what(), HasSubstr("key=\"zzz\""));
}

TEST(FactsText, ModelFactsHaveTheirOwnKeys) {
  const ModelFacts facts = {.name = "bert",
                            .parameters = 110'000'000,
                            .parameter_bytes = 440'000'000,
                            .trainable = 110'000'000,
                            .has_convolutions = false,
                            .has_attention = true,
                            .static_shapes = std::nullopt};
  EXPECT_EQ(parse_model_facts(format_model_facts(facts), "x"), facts);
  EXPECT_THROW(parse_model_facts("libtrain-facts 1\ncpu.cores = 1\n", "x"), BadFile);
}

}  // namespace
}  // namespace libtrain
