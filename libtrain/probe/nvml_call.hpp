#pragma once

#include <array>
#include <string>

#include "libtrain/core/text.hpp"
#include "libtrain/probe/sources.hpp"

namespace libtrain {

// Own declarations of what is used of nvml.h (CUDA 13.0): return codes and structs keep their
// values and layout by NVIDIA's promise of binary compatibility.
namespace nvml {

using Device = struct DeviceHandle*;

enum Result : int {
  kSuccess = 0,
  kNotSupported = 3,
  kNoPermission = 4,
  kNotFound = 6,
  kFunctionNotFound = 13,
  kArgumentVersionMismatch = 25,
  kDeprecated = 26,
};

struct PciInfo {  // nvmlPciInfo_t, version 3
  std::array<char, 16> bus_id_legacy{};
  unsigned domain = 0;
  unsigned bus = 0;
  unsigned device = 0;
  unsigned pci_device_id = 0;
  unsigned pci_subsystem_id = 0;
  std::array<char, 32> bus_id{};
};

struct Memory {  // nvmlMemory_t
  unsigned long long total = 0;
  unsigned long long free = 0;
  unsigned long long used = 0;
};

struct Bar1 {  // nvmlBAR1Memory_t
  unsigned long long total = 0;
  unsigned long long free = 0;
  unsigned long long used = 0;
};

struct Process {  // nvmlProcessInfo_t, version 2
  unsigned pid = 0;
  unsigned long long used_memory = 0;
  unsigned gpu_instance = 0;
  unsigned compute_instance = 0;
};

struct LicensableFeature {  // nvmlGridLicensableFeature_t, version 4
  int code = 0;
  unsigned licensed = 0;
  std::array<char, 128> deprecated{};
  std::array<char, 128> product{};
  unsigned enabled = 0;
  unsigned expiry_year = 0;
  std::array<unsigned short, 5> expiry{};
  unsigned char expiry_status = 0;
};

struct LicensableFeatures {  // nvmlGridLicensableFeatures_t, version 4
  int supported = 0;
  unsigned count = 0;
  std::array<LicensableFeature, 3> features{};
};

struct Attributes {  // nvmlDeviceAttributes_t
  unsigned multiprocessors = 0;
  unsigned shared_copy_engines = 0;
  unsigned shared_decoders = 0;
  unsigned shared_encoders = 0;
  unsigned shared_jpeg = 0;
  unsigned shared_ofa = 0;
  unsigned gpu_instance_slices = 0;
  unsigned compute_instance_slices = 0;
  unsigned long long memory_mib = 0;
};

struct FabricInfo {  // nvmlGpuFabricInfo_t
  std::array<unsigned char, 16> cluster_uuid{};
  int status = 0;
  unsigned clique = 0;
  unsigned char state = 0;
};

}  // namespace nvml

/// NVML by name: each function is looked up when it is called, and may be missing.
class NvmlCalls {
 public:
  explicit NvmlCalls(const DynamicLibrary& library) : library_(library) {}

  /// Arguments must have exactly the types of the C declaration.
  template <class... Args>
  int operator()(const char* name, Args... args) const {
    auto* function = reinterpret_cast<int (*)(Args...)>(library_.symbol(name));
    return function == nullptr ? nvml::kFunctionNotFound : function(args...);
  }

  /// "GPU is lost (NVML error 15)".
  std::string describe(int result) const {
    auto* text = reinterpret_cast<const char* (*)(int)>(library_.symbol("nvmlErrorString"));
    const char* words = text == nullptr ? nullptr : text(result);
    return words == nullptr ? fill("NVML error {}", result)
                            : fill("{} (NVML error {})", words, result);
  }

 private:
  const DynamicLibrary& library_;
};

}  // namespace libtrain
