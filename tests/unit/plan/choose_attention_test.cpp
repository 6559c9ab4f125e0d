#include "libtrain/plan/choose_attention.hpp"

#include <gtest/gtest.h>

#include "tests/unit/plan/example_machines.hpp"
#include "tests/unit/plan/throws.hpp"

namespace libtrain {
namespace {

using examples::cpu_target;
using examples::cuda_target;
using examples::program_asks;

LibraryFacts with_cudnn(const char* version) {
  LibraryFacts library;
  library.cudnn_version = version;
  return library;
}

Decision<AttentionKind> choose(const Target& target, PrecisionMode precision,
                               const LibraryFacts& library = with_cudnn("9.26.0.51"),
                               const std::map<std::string, std::string>& variables = {}) {
  return choose_attention({}, target, precision, library, variables);
}

TEST(ChooseAttention, FollowsTheComputeCapability) {
  struct Row {
    ComputeCapability capability;
    PrecisionMode precision;
    AttentionKind kind;
  };
  const std::vector<Row> table{
      {{6, 1}, PrecisionMode::kFp32, AttentionKind::kEfficient},
      {{7, 0}, PrecisionMode::kFp16, AttentionKind::kEfficient},
      {{7, 5}, PrecisionMode::kFp16, AttentionKind::kEfficient},
      {{7, 5}, PrecisionMode::kBf16, AttentionKind::kMath},
      {{8, 0}, PrecisionMode::kBf16, AttentionKind::kFlash},
      {{8, 0}, PrecisionMode::kFp32, AttentionKind::kEfficient},
      {{8, 0}, PrecisionMode::kTf32, AttentionKind::kEfficient},
      {{8, 6}, PrecisionMode::kFp16, AttentionKind::kFlash},
      {{8, 9}, PrecisionMode::kBf16, AttentionKind::kFlash},
      {{9, 0}, PrecisionMode::kBf16, AttentionKind::kCudnn},
      {{9, 0}, PrecisionMode::kFp32, AttentionKind::kEfficient},
      {{10, 0}, PrecisionMode::kBf16, AttentionKind::kCudnn},
      {{10, 3}, PrecisionMode::kFp16, AttentionKind::kCudnn},
      {{11, 0}, PrecisionMode::kBf16, AttentionKind::kFlash},
      {{12, 0}, PrecisionMode::kBf16, AttentionKind::kFlash},
      {{12, 1}, PrecisionMode::kBf16, AttentionKind::kFlash},
      {{13, 0}, PrecisionMode::kBf16, AttentionKind::kFlash},
  };
  for (const Row& row : table) {
    EXPECT_EQ(choose(cuda_target(row.capability), row.precision).value, row.kind)
        << to_text(row.capability) << " " << to_text(row.precision);
  }
  EXPECT_EQ(choose(cpu_target(), PrecisionMode::kBf16).value, AttentionKind::kShort);
}

TEST(ChooseAttention, CudnnComesFirstOnlyWhenNewEnough) {
  const Target h100 = cuda_target({9, 0});
  const auto kind = [&](const LibraryFacts& library) {
    return choose(h100, PrecisionMode::kBf16, library);
  };
  EXPECT_EQ(kind(with_cudnn("9.15.1")).value, AttentionKind::kCudnn);
  EXPECT_EQ(kind(with_cudnn("10.0")).value, AttentionKind::kCudnn);
  EXPECT_EQ(kind(with_cudnn("9.15.0")).value, AttentionKind::kFlash);
  EXPECT_EQ(kind(with_cudnn("9.10.2.21")).reason,
            "compute capability 9.0, but cuDNN 9.10.2.21 is not newer than 9.15.0");
  EXPECT_EQ(kind({}).source, Source::kDefault);
  EXPECT_EQ(kind(with_cudnn("nine")).value, AttentionKind::kFlash);
}

TEST(ChooseAttention, RespectsTorchsSwitch) {
  const Decision<AttentionKind> decision =
      choose(cuda_target({9, 0}), PrecisionMode::kBf16, with_cudnn("9.26.0"),
             {{"TORCH_CUDNN_SDPA_DEPRIORITIZED", "1"}});
  EXPECT_EQ(decision, (Decision<AttentionKind>{AttentionKind::kFlash, Source::kEnvironment,
                                               "TORCH_CUDNN_SDPA_DEPRIORITIZED=1"}));
}

TEST(ChooseAttention, UnknownCapabilityTakesWhatRunsEverywhere) {
  const Target unknown{.type = DeviceType::kCuda, .capability = {}, .tensor_cores = {}};
  const Decision<AttentionKind> decision = choose(unknown, PrecisionMode::kFp16);
  EXPECT_EQ(decision.value, AttentionKind::kEfficient);
  EXPECT_EQ(decision.source, Source::kDefault);
}

std::string refusal(AttentionKind kind, const Target& target, PrecisionMode precision,
                    const LibraryFacts& library = {}) {
  return message_of<Unsupported>(
      [&] { choose_attention(program_asks(kind), target, precision, library, {}); });
}

TEST(ChooseAttention, RefusesKindsThatCannotTakeTheWork) {
  EXPECT_EQ(refusal(AttentionKind::kFlash, cuda_target({7, 5}), PrecisionMode::kFp16),
            "[plan.attention] cannot be done here: attention=\"flash\" (asked by the program), but "
            "compute capability 7.5 < 8.0; ask for math");
  EXPECT_EQ(refusal(AttentionKind::kFlash, cuda_target({8, 0}), PrecisionMode::kFp32),
            "[plan.attention] cannot be done here: attention=\"flash\" (asked by the program), but "
            "it takes fp16 and bf16, not fp32; ask for math");
  EXPECT_EQ(refusal(AttentionKind::kCudnn, cuda_target({9, 0}), PrecisionMode::kBf16,
                    with_cudnn("8.9.7")),
            "[plan.attention] cannot be done here: attention=\"cudnn\" (asked by the program), but "
            "cuDNN 8.9.7 is older than 9.0; ask for math");
  EXPECT_EQ(refusal(AttentionKind::kEfficient, cuda_target({7, 0}), PrecisionMode::kBf16),
            "[plan.attention] cannot be done here: attention=\"efficient\" (asked by the program), "
            "but compute capability 7.0 < 8.0 takes no bf16 there; ask for math");
  EXPECT_EQ(refusal(AttentionKind::kShort, cuda_target({9, 0}), PrecisionMode::kBf16),
            "[plan.attention] cannot be done here: attention=\"short\" (asked by the program), but "
            "the own kernel runs on the CPU only; ask for math");
  EXPECT_EQ(refusal(AttentionKind::kFlash, cpu_target(), PrecisionMode::kFp32),
            "[plan.attention] cannot be done here: attention=\"flash\" (asked by the program), but "
            "flash attention is for CUDA; ask for math");
}

TEST(ChooseAttention, GrantsEachKindWhereItRuns) {
  const auto granted = [](AttentionKind kind, const Target& target, PrecisionMode precision) {
    return choose_attention(program_asks(kind), target, precision, with_cudnn("9.1.0"), {}).value ==
           kind;
  };
  EXPECT_TRUE(granted(AttentionKind::kMath, cpu_target(), PrecisionMode::kFp32));
  EXPECT_TRUE(granted(AttentionKind::kShort, cpu_target(), PrecisionMode::kBf16));
  EXPECT_TRUE(granted(AttentionKind::kMath, cuda_target({7, 5}), PrecisionMode::kBf16));
  EXPECT_TRUE(granted(AttentionKind::kEfficient, cuda_target({7, 5}), PrecisionMode::kFp16));
  EXPECT_TRUE(granted(AttentionKind::kCudnn, cuda_target({8, 0}), PrecisionMode::kBf16));
}

}  // namespace
}  // namespace libtrain
