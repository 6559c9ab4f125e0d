#include "libtrain/facts/gpu_peaks.hpp"

#include <algorithm>
#include <array>

namespace libtrain {
namespace {

constexpr double kNone = 0;

struct Row {
  std::string_view name;  ///< as NVML gives it, without "NVIDIA " and "Tesla "
  double fp32;
  double tf32;
  double fp16;
  double bf16;
  double fp8;
  double memory;
  double nvlink;
  int pcie;
  int multiprocessors;
  std::string_view source;
};

constexpr std::string_view kVolta = "NVIDIA V100 data sheet";
constexpr std::string_view kTuring = "NVIDIA Turing GPU Architecture, T4 data sheet";
constexpr std::string_view kAmpere = "NVIDIA A100, A30, A10, A40 and RTX A6000 data sheets";
constexpr std::string_view kGa102 = "NVIDIA Ampere GA102 GPU Architecture";
constexpr std::string_view kAda = "NVIDIA L4, L40, L40S and RTX 6000 Ada data sheets";
constexpr std::string_view kAd102 = "NVIDIA Ada GPU Architecture, 2.1";
constexpr std::string_view kHopper = "NVIDIA H100, H200 and GH200 data sheets";
constexpr std::string_view kBlackwell = "NVIDIA Blackwell data sheets, HGX B200 and GB200";
constexpr std::string_view kH20 = "huggingface.js, table of hardware, pull request 2117";
constexpr std::string_view kUltra = "NVIDIA Blackwell Ultra data sheets, HGX B300 and GB300 NVL72";
constexpr std::string_view kPro6000 = "NVIDIA RTX PRO 6000 Blackwell data sheets";
constexpr std::string_view kSpark = "Exo Labs, The DGX Spark Handbook";
constexpr std::string_view kBlackwellRtx = "NVIDIA RTX Blackwell GPU Architecture";

// clang-format off
constexpr std::array kRows{
    //                                  fp32   tf32   fp16   bf16   fp8    GB/s  NVLink PCIe SM
    Row{"V100-PCIE-16GB",               14.0,  kNone, 112,   kNone, kNone, 900,  kNone, 3, 80,  kVolta},
    Row{"V100-PCIE-32GB",               14.0,  kNone, 112,   kNone, kNone, 900,  kNone, 3, 80,  kVolta},
    Row{"V100-SXM2-16GB",               15.7,  kNone, 125,   kNone, kNone, 900,  300,   3, 80,  kVolta},
    Row{"V100-SXM2-32GB",               15.7,  kNone, 125,   kNone, kNone, 900,  300,   3, 80,  kVolta},
    Row{"T4",                           8.1,   kNone, 65,    kNone, kNone, 320,  kNone, 3, 40,  kTuring},
    Row{"GeForce GTX 1660 Ti",          5.4,   kNone, kNone, kNone, kNone, 288,  kNone, 3, 24,  kTuring},
    Row{"GeForce RTX 2080 Ti",          13.4,  kNone, 53.8,  kNone, kNone, 616,  100,   3, 68,  kTuring},
    Row{"Quadro RTX 8000",              16.3,  kNone, 130.5, kNone, kNone, 672,  100,   3, 72,  kTuring},
    Row{"A100-PCIE-40GB",               19.5,  156,   312,   312,   kNone, 1555, 600,   4, 108, kAmpere},
    Row{"A100 80GB PCIe",               19.5,  156,   312,   312,   kNone, 1935, 600,   4, 108, kAmpere},
    Row{"A100-SXM4-40GB",               19.5,  156,   312,   312,   kNone, 1555, 600,   4, 108, kAmpere},
    Row{"A100-SXM4-80GB",               19.5,  156,   312,   312,   kNone, 2039, 600,   4, 108, kAmpere},
    Row{"A30",                          10.3,  82,    165,   165,   kNone, 933,  200,   4, 56,  kAmpere},
    Row{"A10",                          31.2,  62.5,  125,   125,   kNone, 600,  kNone, 4, 72,  kAmpere},
    Row{"A40",                          37.4,  74.8,  149.7, 149.7, kNone, 696,  112.5, 4, 84,  kAmpere},
    Row{"RTX A6000",                    38.7,  77.4,  154.8, 154.8, kNone, 768,  112.5, 4, 84,  kAmpere},
    Row{"GeForce RTX 3090",             35.6,  35.6,  71,    71,    kNone, 936,  112.5, 4, 82,  kGa102},
    Row{"GeForce RTX 3080",             29.8,  29.8,  59.5,  59.5,  kNone, 760,  kNone, 4, 68,  kGa102},
    Row{"L4",                           30.3,  60,    121,   121,   242,   300,  kNone, 4, 58,  kAda},
    Row{"L40",                          90.5,  90.5,  181,   181,   362,   864,  kNone, 4, 142, kAda},
    Row{"L40S",                         91.6,  183,   362,   362,   733,   864,  kNone, 4, 142, kAda},
    Row{"RTX 6000 Ada Generation",      91.1,  182,   364,   364,   728,   960,  kNone, 4, 142, kAda},
    Row{"GeForce RTX 4090",             82.6,  82.6,  165.2, 165.2, 330.3, 1008, kNone, 4, 128, kAd102},
    Row{"H100 PCIe",                    51,    378,   756,   756,   1513,  2000, 600,   5, 114, kHopper},
    Row{"H100 80GB HBM3",               67,    494.7, 989.4, 989.4, 1979,  3350, 900,   5, 132, kHopper},
    Row{"H100 NVL",                     60,    418,   835,   835,   1671,  3900, 600,   5, 132, kHopper},
    Row{"H200",                         67,    494.7, 989.4, 989.4, 1979,  4800, 900,   5, 132, kHopper},
    Row{"H200 NVL",                     60,    418,   835,   835,   1671,  4800, 900,   5, 132, kHopper},
    Row{"H20",                          44,    74,    148,   148,   296,   4000, 900,   5, 78,  kH20},
    Row{"GH200 480GB",                  67,    494.7, 989.4, 989.4, 1979,  4000, 900,   5, 132, kHopper},
    Row{"B200",                         75,    1125,  2250,  2250,  4500,  7670, 1800,  5, 148, kBlackwell},
    Row{"GB200",                        80,    1250,  2500,  2500,  5000,  8000, 1800,  5, 152, kBlackwell},
    Row{"B300 SXM6 AC",                 kNone, 1125,  2250,  2250,  4500,  8000, 1800,  6, 148, kUltra},
    Row{"GB300",                        80,    1250,  2500,  2500,  5000,  8000, 1800,  6, 148, kUltra},
    Row{"GeForce RTX 5090",             104.8, 104.8, 209.5, 209.5, 419,   1792, kNone, 5, 170, kBlackwellRtx},
    Row{"GeForce RTX 5080",             56.3,  56.3,  112.6, 112.6, 225,   960,  kNone, 5, 84,  kBlackwellRtx},
    Row{"RTX PRO 6000 Blackwell Workstation Edition",
                                        125,   252,   504,   504,   1008,  1792, kNone, 5, 188, kPro6000},
    Row{"RTX PRO 6000 Blackwell Server Edition",
                                        120,   kNone, kNone, kNone, kNone, 1597, kNone, 5, 188, kPro6000},
    Row{"GB10",                         kNone, kNone, kNone, kNone, kNone, 273,  kNone, 0, 48,  kSpark},
};
// clang-format on

std::string_view without(std::string_view name, std::string_view prefix) {
  return name.starts_with(prefix) ? name.substr(prefix.size()) : name;
}

template <class T>
std::optional<T> known(T value) {
  return value > 0 ? std::optional(value) : std::nullopt;
}

}  // namespace

std::optional<GpuPeaks> gpu_peaks(const GpuFacts& gpu) {
  const std::string_view name =
      without(without(gpu.name ? std::string_view(*gpu.name) : "", "NVIDIA "), "Tesla ");
  const auto* const row = std::ranges::find(kRows, name, &Row::name);
  const bool instance = gpu.mig_instance == true;
  if (row == kRows.end() || (instance && !gpu.sm_count)) {
    return std::nullopt;
  }
  if (!instance && gpu.sm_count.value_or(row->multiprocessors) != row->multiprocessors) {
    return std::nullopt;  // another card of the same name, as the GeForce RTX 3080 with 12 GB
  }
  const double share = instance ? static_cast<double>(*gpu.sm_count) / row->multiprocessors : 1;
  GpuPeaks out;
  out.fp32_tflops = known(row->fp32 * share);
  out.tf32_tflops = known(row->tf32 * share);
  out.fp16_tflops = known(row->fp16 * share);
  out.bf16_tflops = known(row->bf16 * share);
  out.fp8_tflops = known(row->fp8 * share);
  if (!instance) {
    out.memory_gb_per_s = known(row->memory);
    out.nvlink_gb_per_s = known(row->nvlink);
    out.pcie_generation = known(row->pcie);
  }
  out.source = row->source;
  return out;
}

}  // namespace libtrain
