#include "libtrain/probe/cuda_driver.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "libtrain/core/text.hpp"
#include "libtrain/probe/kernel_driver.hpp"

namespace libtrain {
namespace {

// Values of cuda.h (CUDA 13.0), fixed by the driver's binary interface.
constexpr int kSuccess = 0;
constexpr int kNoFunction = 500;  // CUDA_ERROR_NOT_FOUND
constexpr int kMultiprocessorCount = 16;
constexpr int kMajor = 75;
constexpr int kMinor = 76;
constexpr int kMaxDevices = 1024;

/// What the child tells: one of these a device, then one that says how it ended.
struct Record {
  std::array<char, 96> name{};
  std::array<char, 24> pci_bus_id{};
  std::array<unsigned char, 16> uuid{};
  ComputeCapability compute_capability;
  int sm_count = 0;
  int64_t memory_bytes = 0;
  int result = kSuccess;  ///< of the whole listing, in the last record
  bool last = false;
};

class CudaCalls {
 public:
  explicit CudaCalls(const DynamicLibrary& library) : library_(library) {}

  /// Arguments must have exactly the types of the C declaration.
  template <class... Args>
  int operator()(const char* name, Args... args) const {
    auto* function = reinterpret_cast<int (*)(Args...)>(library_.symbol(name));
    return function == nullptr ? kNoFunction : function(args...);
  }

 private:
  const DynamicLibrary& library_;
};

Record read_device(const CudaCalls& cuda, int index) {
  Record out;
  int device = 0;
  if (cuda("cuDeviceGet", &device, index) != kSuccess) {
    return out;
  }
  cuda("cuDeviceGetName", out.name.data(), static_cast<int>(out.name.size()) - 1, device);
  cuda("cuDeviceGetPCIBusId", out.pci_bus_id.data(), static_cast<int>(out.pci_bus_id.size()) - 1,
       device);
  // Version 2 tells a MIG instance's own id.
  if (cuda("cuDeviceGetUuid_v2", static_cast<void*>(out.uuid.data()), device) != kSuccess) {
    cuda("cuDeviceGetUuid", static_cast<void*>(out.uuid.data()), device);
  }
  cuda("cuDeviceGetAttribute", &out.compute_capability.major, kMajor, device);
  cuda("cuDeviceGetAttribute", &out.compute_capability.minor, kMinor, device);
  cuda("cuDeviceGetAttribute", &out.sm_count, kMultiprocessorCount, device);
  size_t bytes = 0;
  if (cuda("cuDeviceTotalMem_v2", &bytes, device) == kSuccess) {
    out.memory_bytes = static_cast<int64_t>(bytes);
  }
  return out;
}

void send(const ChildProcess::Tell& tell, const Record& record) {
  static_assert(std::is_trivially_copyable_v<Record>);
  tell({reinterpret_cast<const char*>(&record), sizeof(record)});
}

/// Runs in the child alone.
void list_devices(const DynamicLibrary& library, const ChildProcess::Tell& tell) {
  const CudaCalls cuda(library);
  Record end;
  end.last = true;
  int count = 0;
  end.result = cuda("cuInit", 0U);
  if (end.result == kSuccess) {
    end.result = cuda("cuDeviceGetCount", &count);
  }
  for (int index = 0; end.result == kSuccess && index < std::min(count, kMaxDevices); ++index) {
    send(tell, read_device(cuda, index));
  }
  send(tell, end);
}

std::string describe(const DynamicLibrary& library, int result) {
  const char* words = nullptr;
  CudaCalls{library}("cuGetErrorString", result, &words);  // needs no cuInit
  return words == nullptr ? fill("CUDA error {}", result)
                          : fill("{} (CUDA error {})", words, result);
}

std::string uuid_text(const std::array<unsigned char, 16>& bytes) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out;
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) {
      out.push_back('-');
    }
    out.push_back(kHex[bytes[i] >> 4U]);
    out.push_back(kHex[bytes[i] & 15U]);
  }
  return out;
}

CudaDevice device_of(const Record& record) {
  return {.uuid = uuid_text(record.uuid),
          .pci_bus_id = kernel_bus_id(record.pci_bus_id.data()),
          .name = record.name.data(),
          .compute_capability = record.compute_capability,
          .sm_count = record.sm_count,
          .memory_bytes = record.memory_bytes};
}

}  // namespace

std::optional<std::string> cuda_driver_version(const DynamicLibrary& cuda) {
  int version = 0;
  if (CudaCalls{cuda}("cuDriverGetVersion", &version) != kSuccess || version <= 0) {
    return std::nullopt;
  }
  return fill("{}.{}", version / 1000, version % 1000 / 10);
}

CudaQuestion::CudaQuestion(const DynamicLibrary& cuda)
    : cuda_(cuda), child_([&](const ChildProcess::Tell& tell) { list_devices(cuda, tell); }) {}

CudaListing CudaQuestion::answer(std::chrono::milliseconds limit) {
  CudaListing out;
  while (const std::optional<std::string> message = child_.next(limit)) {
    Record record;
    std::memcpy(&record, message->data(), sizeof(record));
    if (record.last) {
      if (record.result != kSuccess) {
        out.problem = describe(cuda_, record.result);
      }
      return out;
    }
    out.devices.push_back(device_of(record));
  }
  return {.devices = {},
          .problem = fill("the process that asked CUDA {}", child_.silence()),
          .timed_out = child_.timed_out()};
}

CudaListing list_cuda_devices_in_child(const DynamicLibrary& cuda,
                                       std::chrono::milliseconds limit) {
  return CudaQuestion(cuda).answer(limit);
}

void join_cuda_indices(std::span<GpuFacts> gpus, std::span<const CudaDevice> devices) {
  for (GpuFacts& gpu : gpus) {
    gpu.cuda_index.reset();
    for (size_t i = 0; i < devices.size() && !gpu.cuda_index; ++i) {
      const bool same =
          gpu.uuid ? gpu.uuid->ends_with("-" + devices[i].uuid)
                   : gpu.pci_bus_id && kernel_bus_id(*gpu.pci_bus_id) == devices[i].pci_bus_id;
      if (same) {
        gpu.cuda_index = static_cast<int>(i);
      }
    }
  }
}

}  // namespace libtrain
