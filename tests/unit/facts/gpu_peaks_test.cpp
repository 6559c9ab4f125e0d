#include "libtrain/facts/gpu_peaks.hpp"

#include <gtest/gtest.h>

namespace libtrain {
namespace {

GpuFacts named(const char* name) {
  GpuFacts gpu;
  gpu.name = name;
  return gpu;
}

TEST(GpuPeaks, AreThoseOfTheVeryCard) {
  EXPECT_EQ(gpu_peaks(named("NVIDIA A100-SXM4-80GB"))->memory_gb_per_s, 2039);
  EXPECT_EQ(gpu_peaks(named("NVIDIA A100-SXM4-40GB"))->memory_gb_per_s, 1555);
  EXPECT_EQ(gpu_peaks(named("NVIDIA H100 PCIe"))->bf16_tflops, 756);
  EXPECT_EQ(gpu_peaks(named("NVIDIA H100 80GB HBM3"))->bf16_tflops, 989.4);
  EXPECT_EQ(gpu_peaks(named("Tesla V100-SXM2-32GB"))->fp16_tflops, 125);
  EXPECT_EQ(gpu_peaks(named("NVIDIA L40S"))->fp8_tflops, 733);
}

TEST(GpuPeaks, LackWhatTheCardLacks) {
  const GpuPeaks v100 = *gpu_peaks(named("Tesla V100-SXM2-32GB"));
  EXPECT_EQ(v100.bf16_tflops, std::nullopt);
  EXPECT_EQ(v100.tf32_tflops, std::nullopt);
  EXPECT_EQ(gpu_peaks(named("NVIDIA GeForce RTX 4090"))->nvlink_gb_per_s, std::nullopt);
  const GpuPeaks gb10 = *gpu_peaks(named("NVIDIA GB10"));
  EXPECT_EQ(gb10.memory_gb_per_s, 273);
  EXPECT_EQ(gb10.bf16_tflops, std::nullopt) << "no source states it without sparsity";
  EXPECT_EQ(gb10.pcie_generation, std::nullopt);
}

TEST(GpuPeaks, OfOtherCardsAreUnknown) {
  for (const char* name : {"", "NVIDIA RTX A4000", "NVIDIA A10G", "NVIDIA A100X", "NVIDIA B2000",
                           "NVIDIA H100", "NVIDIA GeForce GTX 1650", "NVIDIA GB30"}) {
    EXPECT_EQ(gpu_peaks(named(name)), std::nullopt) << name;
  }
  EXPECT_EQ(gpu_peaks(GpuFacts{}), std::nullopt);
}

TEST(GpuPeaks, OfAnotherCardOfTheSameNameAreUnknown) {
  GpuFacts card = named("NVIDIA GeForce RTX 3080");
  EXPECT_EQ(gpu_peaks(card)->memory_gb_per_s, 760);
  card.sm_count = 68;
  EXPECT_EQ(gpu_peaks(card)->memory_gb_per_s, 760);
  card.sm_count = 70;
  EXPECT_EQ(gpu_peaks(card), std::nullopt) << "the one with 12 GB";
}

TEST(GpuPeaks, OfAMigInstanceAreItsShareOfTheMultiprocessors) {
  GpuFacts slice = named("NVIDIA A100-SXM4-40GB");
  slice.mig_instance = true;
  EXPECT_EQ(gpu_peaks(slice), std::nullopt) << "its share is unknown";
  slice.sm_count = 27;
  EXPECT_EQ(gpu_peaks(slice)->bf16_tflops, 78);
  EXPECT_EQ(gpu_peaks(slice)->memory_gb_per_s, std::nullopt);
}

}  // namespace
}  // namespace libtrain
