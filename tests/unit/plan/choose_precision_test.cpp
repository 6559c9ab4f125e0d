#include "libtrain/plan/choose_precision.hpp"

#include <gmock/gmock.h>

#include "libtrain/plan/choose_fp32_matmul.hpp"
#include "libtrain/plan/choose_loss_scaling.hpp"
#include "tests/unit/plan/example_machines.hpp"
#include "tests/unit/plan/throws.hpp"

namespace libtrain {
namespace {

using examples::cpu_target;
using examples::cuda_target;
using examples::gpu;
using examples::program_asks;
using testing::HasSubstr;

struct Expected {
  ComputeCapability capability;
  PrecisionMode precision;
  MatmulPrecision fp32_matmul;
  bool loss_scaling;
};

Decision<MatmulPrecision> matmul_for(const Decision<PrecisionMode>& precision, const Target& target,
                                     const std::map<std::string, std::string>& variables = {}) {
  return choose_fp32_matmul({}, precision, target, variables);
}

TEST(ChoosePrecision, FollowsTheComputeCapability) {
  constexpr auto kFp32 = PrecisionMode::kFp32;
  constexpr auto kFp16 = PrecisionMode::kFp16;
  constexpr auto kBf16 = PrecisionMode::kBf16;
  constexpr auto kIeee = MatmulPrecision::kIeee;
  constexpr auto kTf32 = MatmulPrecision::kTf32;
  const std::vector<Expected> table{
      {{6, 0}, kFp32, kIeee, false},  {{6, 1}, kFp32, kIeee, false},
      {{7, 0}, kFp16, kIeee, true},   {{7, 5}, kFp16, kIeee, true},
      {{8, 0}, kBf16, kTf32, false},  {{8, 6}, kBf16, kTf32, false},
      {{8, 7}, kBf16, kTf32, false},  {{8, 9}, kBf16, kTf32, false},
      {{9, 0}, kBf16, kTf32, false},  {{10, 0}, kBf16, kTf32, false},
      {{10, 3}, kBf16, kTf32, false}, {{11, 0}, kBf16, kTf32, false},
      {{12, 0}, kBf16, kTf32, false}, {{12, 1}, kBf16, kTf32, false},
  };
  for (const Expected& expected : table) {
    SCOPED_TRACE(to_text(expected.capability));
    const Target target = cuda_target(expected.capability);
    const Decision<PrecisionMode> precision = choose_precision({}, target, {});
    EXPECT_EQ(precision.value, expected.precision);
    EXPECT_EQ(precision.source, Source::kFacts);
    EXPECT_THAT(precision.reason, HasSubstr("compute capability " + to_text(expected.capability)));
    EXPECT_EQ(matmul_for(precision, target).value, expected.fp32_matmul);
    EXPECT_EQ(choose_loss_scaling({}, precision.value).value, expected.loss_scaling);
  }
}

TEST(ChoosePrecision, NewerCardsUseTheNearestKnownRuleAndSaySo) {
  const Decision<PrecisionMode> decision = choose_precision({}, cuda_target({13, 0}), {});
  EXPECT_EQ(decision.value, PrecisionMode::kBf16);
  EXPECT_EQ(decision.reason,
            "compute capability 13.0 (not known here, judged as 12.1): tensor cores take bf16 from "
            "8.0 on");
}

TEST(ChoosePrecision, TuringChipsWithoutTensorCoresKeepFp32) {
  for (const char* name : {"NVIDIA GeForce GTX 1660 Ti", "GeForce GTX 1650", "NVIDIA T1000 8GB",
                           "NVIDIA GeForce MX450", "Quadro T2000"}) {
    EXPECT_EQ(has_tensor_cores(gpu(0, {7, 5}, name)), false) << name;
  }
  for (const char* name : {"Tesla T4", "NVIDIA GeForce RTX 2080 Ti", "Quadro RTX 8000", "T400x"}) {
    EXPECT_EQ(has_tensor_cores(gpu(0, {7, 5}, name)), true) << name;
  }
  EXPECT_EQ(has_tensor_cores(gpu(0, {8, 6}, "NVIDIA T1000")), true);
  EXPECT_EQ(has_tensor_cores(gpu(0, {6, 1}, "NVIDIA GeForce GTX 1080")), false);
  EXPECT_EQ(has_tensor_cores({}), std::nullopt);

  const Target target{.type = DeviceType::kCuda, .capability = {{7, 5}}, .tensor_cores = false};
  const Decision<PrecisionMode> decision = choose_precision({}, target, {});
  EXPECT_EQ(decision.value, PrecisionMode::kFp32);
  EXPECT_EQ(decision.reason, "compute capability 7.5, but this chip has no tensor cores");
}

/// A driver older than the card knows no name for it.
TEST(TensorCores, OfANamelessCardAreToldByItsDeviceId) {
  GpuFacts card = gpu(0, {7, 5}, "Graphics Device");
  EXPECT_EQ(has_tensor_cores(card), std::nullopt);
  const Target unknown{.type = DeviceType::kCuda, .capability = {{7, 5}}, .tensor_cores = {}};
  EXPECT_EQ(choose_precision({}, unknown, {}),
            (Decision<PrecisionMode>{
                PrecisionMode::kFp32, Source::kDefault,
                "compute capability 7.5, but whether this chip has tensor cores is unknown"}));
  card.pci_device_id = "2182";  // GTX 1660 Ti
  EXPECT_EQ(has_tensor_cores(card), false);
  card.pci_device_id = "1f82";  // GTX 1650
  EXPECT_EQ(has_tensor_cores(card), false);
  card.pci_device_id = "1e04";  // RTX 2080 Ti
  EXPECT_EQ(has_tensor_cores(card), true);
  card.pci_device_id = "1f08";  // RTX 2060
  EXPECT_EQ(has_tensor_cores(card), true);
  card.compute_capability = ComputeCapability{8, 0};
  card.pci_device_id = "2182";
  EXPECT_EQ(has_tensor_cores(card), true);
  card.pci_device_id.reset();
  EXPECT_EQ(has_tensor_cores(card), true) << "every card from 8.0 on has them";
}

TEST(ChoosePrecision, CpuTakesBf16OnlyWithX86Instructions) {
  CpuFacts cpu;
  cpu.avx512_bf16 = false;
  cpu.amx_bf16 = false;
  EXPECT_EQ(choose_precision({}, cpu_target(), cpu).value, PrecisionMode::kFp32);
  cpu.avx512_bf16 = true;
  EXPECT_EQ(choose_precision({}, cpu_target(), cpu).reason, "the CPU has AVX512-BF16");
  cpu.amx_bf16 = true;
  EXPECT_EQ(
      choose_precision({}, cpu_target(), cpu),
      (Decision<PrecisionMode>{PrecisionMode::kBf16, Source::kFacts, "the CPU has AMX-BF16"}));
  CpuFacts arm;
  arm.arm_bf16 = true;
  EXPECT_EQ(choose_precision({}, cpu_target(), arm).value, PrecisionMode::kFp32);
}

TEST(ChoosePrecision, UnknownFactsMeanFp32ByDefault) {
  for (const Target& target :
       {cpu_target(), Target{.type = DeviceType::kCuda, .capability = {}, .tensor_cores = {}}}) {
    const Decision<PrecisionMode> decision = choose_precision({}, target, {});
    EXPECT_EQ(decision.value, PrecisionMode::kFp32);
    EXPECT_EQ(decision.source, Source::kDefault);
    EXPECT_EQ(matmul_for(decision, target).value, MatmulPrecision::kIeee);
  }
}

TEST(ChoosePrecision, GrantsSlowRequestsWithTheirCost) {
  const auto reason = [](PrecisionMode asked, const Target& target) {
    return choose_precision(program_asks(asked), target, {}).reason;
  };
  EXPECT_EQ(reason(PrecisionMode::kBf16, cuda_target({7, 5})),
            "asked by the program: compute capability 7.5 < 8.0: bf16 is emulated, slower than "
            "fp32");
  EXPECT_EQ(reason(PrecisionMode::kFp16, cuda_target({6, 1})),
            "asked by the program: compute capability 6.1, no tensor cores: fp16 may be slower "
            "than fp32");
  EXPECT_EQ(reason(PrecisionMode::kFp16, cpu_target()),
            "asked by the program: on a CPU fp16 is about 5 times slower than fp32");
  EXPECT_EQ(reason(PrecisionMode::kBf16, cpu_target()),
            "asked by the program: no bf16 instructions are known here: bf16 is emulated, slower "
            "than fp32");
  EXPECT_EQ(reason(PrecisionMode::kFp16, cuda_target({8, 0})), "asked by the program");
  EXPECT_EQ(reason(PrecisionMode::kTf32, cuda_target({8, 0})), "asked by the program");
}

TEST(ChoosePrecision, RefusesTf32WithoutTheHardware) {
  EXPECT_EQ(message_of<Unsupported>([] {
              choose_precision(program_asks(PrecisionMode::kTf32), cuda_target({7, 5}), {});
            }),
            "[plan.precision] cannot be done here: precision=\"tf32\" (asked by the program), but "
            "compute capability 7.5 < 8.0 has no TF32; ask for fp32");
  EXPECT_THROW(choose_precision(program_asks(PrecisionMode::kTf32), cpu_target(), {}), Unsupported);
}

TEST(ChooseFp32Matmul, AskedFp32MeansIeeeAndTf32MeansTf32) {
  const Target a100 = cuda_target({8, 0});
  const auto with = [&](PrecisionMode asked) {
    return matmul_for(choose_precision(program_asks(asked), a100, {}), a100);
  };
  EXPECT_EQ(with(PrecisionMode::kFp32).value, MatmulPrecision::kIeee);
  EXPECT_EQ(with(PrecisionMode::kFp32).source, Source::kAsked);
  EXPECT_EQ(with(PrecisionMode::kTf32).value, MatmulPrecision::kTf32);
  EXPECT_EQ(with(PrecisionMode::kFp16).value, MatmulPrecision::kTf32);
}

TEST(ChooseFp32Matmul, ItsOwnRequestWins) {
  const Target a100 = cuda_target({8, 0});
  const Decision<PrecisionMode> bf16 = choose_precision({}, a100, {});
  const Decision<PrecisionMode> fp32 =
      choose_precision(program_asks(PrecisionMode::kFp32), a100, {});
  EXPECT_EQ(choose_fp32_matmul(program_asks(MatmulPrecision::kIeee), bf16, a100, {}).value,
            MatmulPrecision::kIeee);
  EXPECT_EQ(choose_fp32_matmul(program_asks(MatmulPrecision::kTf32), fp32, a100, {}).value,
            MatmulPrecision::kTf32);
}

TEST(ChooseFp32Matmul, RefusesWhatCannotBe) {
  const Target t4 = cuda_target({7, 5});
  EXPECT_EQ(message_of<Unsupported>([&] {
              choose_fp32_matmul(program_asks(MatmulPrecision::kTf32), choose_precision({}, t4, {}),
                                 t4, {});
            }),
            "[plan.fp32_matmul] cannot be done here: fp32_matmul=\"tf32\" (asked by the program), "
            "but compute capability 7.5 < 8.0 has no TF32; ask for ieee");
  const Target a100 = cuda_target({8, 0});
  EXPECT_EQ(message_of<InvalidOption>([&] {
              choose_fp32_matmul(program_asks(MatmulPrecision::kIeee),
                                 choose_precision(program_asks(PrecisionMode::kTf32), a100, {}),
                                 a100, {});
            }),
            "[plan.fp32_matmul] options contradict each other: precision=tf32 (asked by the "
            "program), fp32_matmul=ieee (asked by the program), expected fp32_matmul=tf32; ask for "
            "precision=fp32 or drop one");
}

TEST(ChooseFp32Matmul, NvidiasOverrideIsNoticed) {
  const Target a100 = cuda_target({8, 0});
  const Decision<PrecisionMode> bf16 = choose_precision({}, a100, {});
  const Decision<MatmulPrecision> decision =
      matmul_for(bf16, a100, {{"NVIDIA_TF32_OVERRIDE", "0"}});
  EXPECT_EQ(decision, (Decision<MatmulPrecision>{MatmulPrecision::kIeee, Source::kEnvironment,
                                                 "NVIDIA_TF32_OVERRIDE=0 switches TF32 off"}));
  EXPECT_EQ(matmul_for(bf16, a100, {{"NVIDIA_TF32_OVERRIDE", "1"}}).value, MatmulPrecision::kTf32);
}

TEST(ChooseLossScaling, OnForFp16AloneUnlessAsked) {
  EXPECT_EQ(choose_loss_scaling({}, PrecisionMode::kFp16).value, true);
  for (const PrecisionMode precision :
       {PrecisionMode::kFp32, PrecisionMode::kTf32, PrecisionMode::kBf16}) {
    EXPECT_EQ(choose_loss_scaling({}, precision).value, false);
  }
  EXPECT_EQ(choose_loss_scaling(program_asks(false), PrecisionMode::kFp16).reason,
            "asked by the program: fp16 flushes gradients below 2^-24 to zero");
  EXPECT_EQ(choose_loss_scaling(program_asks(true), PrecisionMode::kBf16).reason,
            "asked by the program: bf16 has 8 exponent bits");
}

}  // namespace
}  // namespace libtrain
