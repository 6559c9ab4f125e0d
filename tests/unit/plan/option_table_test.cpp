#include "libtrain/plan/option_table.hpp"

#include <gmock/gmock.h>

#include <set>

#include "libtrain/core/text.hpp"
#include "libtrain/plan/enum_names.hpp"
#include "libtrain/plan/environment.hpp"
#include "libtrain/plan/explain.hpp"
#include "libtrain/plan/nearest_name.hpp"
#include "libtrain/plan/request.hpp"
#include "tests/unit/plan/throws.hpp"

namespace libtrain {
namespace {

using testing::HasSubstr;

template <class E>
void expect_names(std::string_view key) {
  for (const OptionInfo& option : option_table()) {
    if (option.key != key) {
      continue;
    }
    for (const auto& [value, name] : EnumNames<E>::kAll) {
      EXPECT_THAT(std::string(option.allowed), HasSubstr(std::string(name)));
      EXPECT_EQ(parse_enum<E>(enum_name(value)), value);
      PlanOptions options;
      EXPECT_TRUE(option.read(name, options)) << name;
    }
    PlanOptions options;
    EXPECT_FALSE(option.read("auto", options));
    return;
  }
  ADD_FAILURE() << "no option " << key;
}

TEST(OptionTable, NamesEveryValueOfAnEnum) {
  expect_names<PrecisionMode>("precision");
  expect_names<MatmulPrecision>("fp32_matmul");
  expect_names<AttentionKind>("attention");
  expect_names<OptimizerForm>("optimizer");
  expect_names<MemoryFormat>("memory_format");
  expect_names<AllocatorSetting>("allocator");
  expect_names<ParallelForm>("parallelism");
  expect_names<CommBackend>("backend");
  expect_names<NcclSettings>("nccl_settings");
}

TEST(OptionTable, HasOneOptionForEachRowOfThePlan) {
  std::set<std::string> keys;
  for (const OptionInfo& option : option_table()) {
    EXPECT_TRUE(keys.insert(std::string(option.key)).second) << option.key;
  }
  std::set<std::string> rows;
  for (const PlanRow& row : plan_rows({})) {
    rows.insert(row.key);
  }
  EXPECT_EQ(keys, rows);
}

TEST(SetOption, ReadsEveryKey) {
  PlanOptions options;
  set_option(options, "device", "cuda:3");
  set_option(options, "precision", "bf16");
  set_option(options, "loss_scaling", "off");
  set_option(options, "threads", "12");
  set_option(options, "global_batch", "4294967296");
  EXPECT_EQ(options.device, "cuda:3");
  EXPECT_EQ(options.precision, PrecisionMode::kBf16);
  EXPECT_EQ(options.loss_scaling, false);
  EXPECT_EQ(options.threads, 12);
  EXPECT_EQ(options.global_batch, 4294967296);
}

TEST(SetOption, ReadsCapabilitiesAsPairs) {
  PlanOptions options;
  for (const char* text : {"none", "8.0", "8.0;9.0+PTX", "7.5 12.0+PTX", "9.0a;10.0f"}) {
    set_option(options, "arch_list", text);
    EXPECT_EQ(options.arch_list, text);
  }
  for (const char* text : {"", "8", "sm_80", "12.00", "8.0;;9.0", "8.0,9.0", "Ampere", "8.0;x"}) {
    EXPECT_THROW(set_option(options, "arch_list", text), InvalidOption) << text;
  }
}

TEST(SetOption, ReadsMemoryNodes) {
  PlanOptions options;
  set_option(options, "numa_node", "1");
  EXPECT_EQ(options.numa_node, NumaChoice{1});
  set_option(options, "numa_node", "unbound");
  EXPECT_EQ(options.numa_node, NumaChoice{});
  set_option(options, "data_workers", "0");
  EXPECT_EQ(options.data_workers, 0);
  for (const char* text : {"", "-1", "65536", "0,1", "none"}) {
    EXPECT_THROW(set_option(options, "numa_node", text), InvalidOption) << text;
  }
}

TEST(SetOption, NamesWhatIsWrong) {
  PlanOptions options;
  EXPECT_EQ(message_of<InvalidOption>([&] { set_option(options, "precison", "bf16"); }),
            "[plan.set] no such option: key=\"precison\", expected one of device, precision, "
            "fp32_matmul, loss_scaling, attention, optimizer, memory_format, cudnn_benchmark, "
            "threads, allocator, global_batch, accumulate, arch_list, nccl_settings, "
            "checkpointing, micro_batch, cuda_graph, data_workers, prefetch, pinned_memory, "
            "numa_node, parallelism, backend, bucket_mib; did you mean precision?");
  EXPECT_EQ(message_of<InvalidOption>([&] { set_option(options, "threads", "0"); }),
            "[plan.set] value not allowed: threads=\"0\", expected 1 to 8192");
  for (const char* text : {"", "-1", "1.5", "8193", "99999999999999999999"}) {
    EXPECT_THROW(set_option(options, "threads", text), InvalidOption) << text;
  }
}

TEST(Environment, SetsTheOptionsItNames) {
  const PlanOptions options = read_environment({{"FASTTRAIN_PRECISION", "fp16"},
                                                {"FASTTRAIN_CUDNN_BENCHMARK", "1"},
                                                {"FASTTRAIN_ISA", "avx2"},
                                                {"OMP_NUM_THREADS", "many"},
                                                {"NOT_FASTTRAIN_X", "1"}});
  EXPECT_EQ(options.precision, PrecisionMode::kFp16);
  EXPECT_EQ(options.cudnn_benchmark, true);
  EXPECT_EQ(options.device, std::nullopt);
}

TEST(Environment, RefusesValuesAndNamesThatNothingReads) {
  EXPECT_EQ(message_of<InvalidOption>([] {
              read_environment({{"FASTTRAIN_PRECISION", "half"}});
            }),
            "[plan.environment] value not allowed: FASTTRAIN_PRECISION=\"half\", expected fp32, "
            "tf32, bf16 or fp16; correct or unset it");
  EXPECT_EQ(message_of<InvalidOption>([] {
              read_environment({{"FASTTRAIN_DEVICE", ""}});
            }),
            "[plan.environment] value not allowed: FASTTRAIN_DEVICE=\"\", expected cpu, cuda or "
            "cuda:N; correct or unset it");
  EXPECT_EQ(message_of<InvalidOption>([] {
              read_environment({{"FASTTRAIN_PRECISON", "bf16"}});
            }),
            "[plan.environment] unknown variable: name=\"FASTTRAIN_PRECISON\", expected one in "
            "docs/environment.md; correct or unset it; did you mean FASTTRAIN_PRECISION?");
  EXPECT_THROW(read_environment({{"FASTTRAIN_GLOBAL_BATCH", "8"}}), InvalidOption);
  EXPECT_THROW(read_environment({{"FASTTRAIN_", "8"}}), InvalidOption);
  EXPECT_EQ(message_of<InvalidOption>([] {
              read_environment({{"FASTTRAIN_ISA", "sse"}});
            }),
            "[plan.environment] value not allowed: FASTTRAIN_ISA=\"sse\", expected scalar, avx2 or "
            "avx512; correct or unset it");
  EXPECT_THROW(read_environment({{"FASTTRAIN_REQUIRE_GPU", "yes"}}), InvalidOption);
  EXPECT_NO_THROW(read_environment({{"FASTTRAIN_ISA", "avx2"}, {"FASTTRAIN_REQUIRE_GPU", "1"}}));
}

TEST(Requests, CodeComesBeforeTheEnvironmentAndTheConflictIsNamed) {
  PlanOptions asked;
  asked.precision = PrecisionMode::kBf16;
  asked.threads = 4;
  const Requests requests = merge_requests(
      asked,
      {{"FASTTRAIN_PRECISION", "fp16"}, {"FASTTRAIN_THREADS", "4"}, {"FASTTRAIN_DEVICE", "cpu"}});
  EXPECT_EQ(requests.precision.value, PrecisionMode::kBf16);
  EXPECT_EQ(requests.precision.source, Source::kAsked);
  EXPECT_EQ(requests.precision.origin, "asked by the program, over FASTTRAIN_PRECISION=fp16");
  EXPECT_EQ(requests.threads.origin, "asked by the program");
  EXPECT_EQ(requests.device.source, Source::kEnvironment);
  EXPECT_EQ(requests.device.origin, "FASTTRAIN_DEVICE=cpu");
  EXPECT_EQ(requests.attention.value, std::nullopt);
}

TEST(NearestName, FindsTheSlipAndNothingFarAway) {
  constexpr std::string_view kNames[] = {"precision", "threads", "device"};
  EXPECT_EQ(nearest_name("precison", kNames), "precision");
  EXPECT_EQ(nearest_name("thraeds", kNames), "threads");
  EXPECT_EQ(nearest_name("devices", kNames), "device");
  EXPECT_EQ(nearest_name("colour", kNames), "");
  EXPECT_EQ(nearest_name("", kNames), "");
  EXPECT_EQ(nearest_name(std::string(100000, 'x'), kNames), "");
}

}  // namespace
}  // namespace libtrain
