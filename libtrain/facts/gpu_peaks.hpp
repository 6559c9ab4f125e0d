#pragma once

#include <optional>
#include <string_view>

#include "libtrain/core/api.hpp"
#include "libtrain/facts/gpu.hpp"

namespace libtrain {

/// What a GPU can do at most by its maker's figures. TFLOP/s are dense (without 2:4 sparsity),
/// 16-bit and fp8 ones with fp32 accumulation. Empty: the GPU has no such unit or link, or no
/// figure is published.
struct GpuPeaks {
  std::optional<double> fp32_tflops;  ///< ordinary cores
  std::optional<double> tf32_tflops;
  std::optional<double> fp16_tflops;
  std::optional<double> bf16_tflops;
  std::optional<double> fp8_tflops;
  std::optional<double> memory_gb_per_s;
  std::optional<double> nvlink_gb_per_s;  ///< both directions added; with its bridge
  std::optional<int> pcie_generation;     ///< of 16 lanes
  std::string_view source;

  friend bool operator==(const GpuPeaks&, const GpuPeaks&) = default;
};

/// The peaks of a GPU whose name, as NVML gives it, is in the table; of a MIG instance its share of
/// the multiprocessors, without memory and links, which are shared in ways not published. Nothing
/// for any other GPU, nor for one of that name with another number of multiprocessors: another
/// card's figures would be wrong.
LT_API std::optional<GpuPeaks> gpu_peaks(const GpuFacts& gpu);

}  // namespace libtrain
