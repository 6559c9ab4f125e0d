#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "libtrain/plan/options.hpp"

namespace libtrain {

/// The one table of names for each enum: read by to_text(), the environment and `--set`.
template <class E>
struct EnumNames;

template <>
struct EnumNames<PrecisionMode> {
  static constexpr std::array<std::pair<PrecisionMode, std::string_view>, 4> kAll{{
      {PrecisionMode::kFp32, "fp32"},
      {PrecisionMode::kTf32, "tf32"},
      {PrecisionMode::kBf16, "bf16"},
      {PrecisionMode::kFp16, "fp16"},
  }};
};

template <>
struct EnumNames<MatmulPrecision> {
  static constexpr std::array<std::pair<MatmulPrecision, std::string_view>, 2> kAll{{
      {MatmulPrecision::kIeee, "ieee"},
      {MatmulPrecision::kTf32, "tf32"},
  }};
};

template <>
struct EnumNames<AttentionKind> {
  static constexpr std::array<std::pair<AttentionKind, std::string_view>, 5> kAll{{
      {AttentionKind::kShort, "short"},
      {AttentionKind::kMath, "math"},
      {AttentionKind::kFlash, "flash"},
      {AttentionKind::kEfficient, "efficient"},
      {AttentionKind::kCudnn, "cudnn"},
  }};
};

template <>
struct EnumNames<OptimizerForm> {
  static constexpr std::array<std::pair<OptimizerForm, std::string_view>, 2> kAll{{
      {OptimizerForm::kOwnKernel, "own_kernel"},
      {OptimizerForm::kFused, "fused"},
  }};
};

template <>
struct EnumNames<MemoryFormat> {
  static constexpr std::array<std::pair<MemoryFormat, std::string_view>, 2> kAll{{
      {MemoryFormat::kContiguous, "contiguous"},
      {MemoryFormat::kChannelsLast, "channels_last"},
  }};
};

template <>
struct EnumNames<AllocatorSetting> {
  static constexpr std::array<std::pair<AllocatorSetting, std::string_view>, 3> kAll{{
      {AllocatorSetting::kUnchanged, "unchanged"},
      {AllocatorSetting::kGlibcThresholds, "glibc_thresholds"},
      {AllocatorSetting::kExpandableSegments, "expandable_segments"},
  }};
};

template <>
struct EnumNames<ParallelForm> {
  static constexpr std::array<std::pair<ParallelForm, std::string_view>, 5> kAll{{
      {ParallelForm::kAlone, "alone"},
      {ParallelForm::kDdp, "ddp"},
      {ParallelForm::kZero1, "zero1"},
      {ParallelForm::kZero2, "zero2"},
      {ParallelForm::kZero3, "zero3"},
  }};
};

template <>
struct EnumNames<CommBackend> {
  static constexpr std::array<std::pair<CommBackend, std::string_view>, 3> kAll{{
      {CommBackend::kNone, "none"},
      {CommBackend::kGloo, "gloo"},
      {CommBackend::kNccl, "nccl"},
  }};
};

template <>
struct EnumNames<NcclSettings> {
  static constexpr std::array<std::pair<NcclSettings, std::string_view>, 2> kAll{{
      {NcclSettings::kUnchanged, "unchanged"},
      {NcclSettings::kByEvidence, "by_evidence"},
  }};
};

inline constexpr std::string_view kUnbound = "unbound";  ///< NumaChoice without a node

template <class E>
constexpr std::string_view enum_name(E value) {
  for (const auto& [known, name] : EnumNames<E>::kAll) {
    if (known == value) {
      return name;
    }
  }
  return "unknown";
}

template <class E>
constexpr std::optional<E> parse_enum(std::string_view text) {
  for (const auto& [value, name] : EnumNames<E>::kAll) {
    if (name == text) {
      return value;
    }
  }
  return std::nullopt;
}

}  // namespace libtrain
