#include <gtest/gtest.h>

#include "libtrain/plan/choose_cudnn_benchmark.hpp"
#include "libtrain/plan/choose_memory_format.hpp"
#include "libtrain/plan/choose_optimizer.hpp"
#include "libtrain/plan/model_presets.hpp"
#include "tests/unit/plan/example_machines.hpp"
#include "tests/unit/plan/throws.hpp"

namespace libtrain {
namespace {

using examples::cpu_target;
using examples::cuda_target;
using examples::program_asks;

const ModelFacts kBert = *model_preset("bert-base");
const ModelFacts kResnet = *model_preset("resnet50");

TEST(ChooseMemoryFormat, ChannelsLastForConvolutionsWhereTheyGain) {
  struct Row {
    Target target;
    PrecisionMode precision;
    MemoryFormat format;
  };
  const Target gtx{.type = DeviceType::kCuda, .capability = {{7, 5}}, .tensor_cores = false};
  const std::vector<Row> table{
      {cpu_target(), PrecisionMode::kFp32, MemoryFormat::kChannelsLast},
      {cpu_target(), PrecisionMode::kBf16, MemoryFormat::kChannelsLast},
      {cuda_target({6, 1}), PrecisionMode::kFp16, MemoryFormat::kContiguous},
      {cuda_target({7, 0}), PrecisionMode::kFp16, MemoryFormat::kChannelsLast},
      {gtx, PrecisionMode::kFp16, MemoryFormat::kContiguous},
      {cuda_target({8, 0}), PrecisionMode::kBf16, MemoryFormat::kChannelsLast},
      {cuda_target({8, 0}), PrecisionMode::kFp32, MemoryFormat::kContiguous},
      {cuda_target({8, 0}), PrecisionMode::kTf32, MemoryFormat::kContiguous},
      {cuda_target({12, 0}), PrecisionMode::kBf16, MemoryFormat::kChannelsLast},
  };
  for (const Row& row : table) {
    const Decision<MemoryFormat> decision =
        choose_memory_format({}, row.target, row.precision, kResnet);
    EXPECT_EQ(decision.value, row.format) << decision.reason;
    EXPECT_EQ(choose_memory_format({}, row.target, row.precision, kBert).value,
              MemoryFormat::kContiguous);
  }
}

TEST(ChooseMemoryFormat, UnknownFactsMeanContiguousAndARequestWins) {
  EXPECT_EQ(choose_memory_format({}, cpu_target(), PrecisionMode::kFp32, {}),
            (Decision<MemoryFormat>{MemoryFormat::kContiguous, Source::kDefault,
                                    "whether the model has convolutions is unknown"}));
  const Target unknown{.type = DeviceType::kCuda, .capability = {}, .tensor_cores = {}};
  EXPECT_EQ(choose_memory_format({}, unknown, PrecisionMode::kFp16, kResnet).source,
            Source::kDefault);
  EXPECT_EQ(choose_memory_format(program_asks(MemoryFormat::kContiguous), cpu_target(),
                                 PrecisionMode::kFp32, kResnet)
                .value,
            MemoryFormat::kContiguous);
}

TEST(ChooseCudnnBenchmark, OnlyForConvolutionsOfStaticShapesOnCuda) {
  ModelFacts varying = kResnet;
  varying.static_shapes = false;
  EXPECT_EQ(choose_cudnn_benchmark({}, DeviceType::kCuda, kResnet).value, true);
  EXPECT_EQ(choose_cudnn_benchmark({}, DeviceType::kCuda, varying).value, false);
  EXPECT_EQ(choose_cudnn_benchmark({}, DeviceType::kCuda, kBert).reason,
            "the model has no convolutions");
  EXPECT_EQ(choose_cudnn_benchmark({}, DeviceType::kCpu, kResnet).value, false);
  EXPECT_EQ(choose_cudnn_benchmark({}, DeviceType::kCuda, {}).source, Source::kDefault);
  EXPECT_EQ(choose_cudnn_benchmark(program_asks(true), DeviceType::kCpu, {}).reason,
            "asked by the program: without effect on a CPU");
}

TEST(ChooseOptimizer, OwnKernelOnTheCpuFusedOnCuda) {
  EXPECT_EQ(choose_optimizer({}, DeviceType::kCpu).value, OptimizerForm::kOwnKernel);
  EXPECT_EQ(choose_optimizer({}, DeviceType::kCuda).value, OptimizerForm::kFused);
  EXPECT_EQ(choose_optimizer(program_asks(OptimizerForm::kFused), DeviceType::kCpu).reason,
            "asked by the program: on a CPU it passes over memory more often");
  EXPECT_EQ(message_of<Unsupported>([] {
              choose_optimizer(program_asks(OptimizerForm::kOwnKernel), DeviceType::kCuda);
            }),
            "[plan.optimizer] cannot be done here: optimizer=\"own_kernel\" (asked by the "
            "program), but the own kernel runs on the CPU only; ask for fused");
}

}  // namespace
}  // namespace libtrain
