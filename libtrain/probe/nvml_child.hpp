#pragma once

#include <chrono>

#include "libtrain/core/api.hpp"
#include "libtrain/probe/nvml.hpp"

namespace libtrain {

/// How long NVML may take before it counts as hanging.
struct NvmlLimits {
  /// To start, which touches no GPU (NVML API, nvmlInit_v2).
  std::chrono::milliseconds start{700};
  /// For each GPU. One that no process keeps loaded takes 1 to 3 s to wake (NVIDIA, Driver
  /// Persistence): ending sooner would hide healthy GPUs.
  std::chrono::milliseconds gpu{5000};
};

/// list_nvml_devices() in a forked child: a driver that hangs or crashes is a problem that is told,
/// and what NVML said before that is kept.
LT_API NvmlListing list_nvml_devices_in_child(const DynamicLibrary& library,
                                              NvmlLimits limits = {});

/// A piece of a listing as text, and back; any text that is none throws BadFile.
LT_API std::string format_nvml_listing(const NvmlListing& listing);
LT_API NvmlListing parse_nvml_listing(std::string_view text);

}  // namespace libtrain
