#include "tests/support/fake_nvidia.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "libtrain/probe/nvml_call.hpp"

namespace libtrain {
namespace {

FakeNvml* nvml_state = nullptr;
FakeCuda* cuda_state = nullptr;

constexpr int kInvalidArgument = 2;
constexpr int kInsufficientSize = 7;

int result_of(const std::map<std::string, int>& failures, const char* function) {
  const auto at = failures.find(function);
  return at == failures.end() ? 0 : at->second;
}

int copy_text(const std::string& text, char* buffer, unsigned size) {
  if (text.size() >= size) {
    return kInsufficientSize;
  }
  std::memcpy(buffer, text.c_str(), text.size() + 1);
  return 0;
}

using Device = FakeNvmlDevice*;

int init() {
  ++nvml_state->started;
  return result_of(nvml_state->failures, "nvmlInit_v2");
}
int shutdown() {
  ++nvml_state->stopped;
  return 0;
}
const char* error_string(int result) {
  return result == 15   ? "GPU is lost"
         : result == 18 ? "Driver/library version mismatch"
         : result == 9  ? "Driver Not Loaded"
                        : "Unknown Error";
}
int driver_version(char* buffer, unsigned size) {
  return copy_text(nvml_state->driver_version, buffer, size);
}
int cuda_version(int* version) {
  *version = nvml_state->cuda_version;
  return 0;
}
int count(unsigned* value) {
  *value = static_cast<unsigned>(nvml_state->devices.size());
  return result_of(nvml_state->failures, "nvmlDeviceGetCount_v2");
}
int handle(unsigned index, Device* device) {
  if (index >= nvml_state->devices.size()) {
    return kInvalidArgument;
  }
  *device = &nvml_state->devices[index];
  return result_of((*device)->failures, "nvmlDeviceGetHandleByIndex_v2");
}
int uuid(Device device, char* buffer, unsigned size) {
  const int failure = result_of(device->failures, "nvmlDeviceGetUUID");
  return failure != 0 ? failure : copy_text(device->uuid, buffer, size);
}
int name(Device device, char* buffer, unsigned size) {
  const int failure = result_of(device->failures, "nvmlDeviceGetName");
  return failure != 0 ? failure : copy_text(device->name, buffer, size);
}
int pci(Device device, nvml::PciInfo* info) {
  return copy_text(device->bus_id, info->bus_id.data(), static_cast<unsigned>(info->bus_id.size()));
}
int capability(Device device, int* major, int* minor) {
  *major = device->major;
  *minor = device->minor;
  return 0;
}
int cores(Device device, unsigned* value) {
  *value = device->cores;
  return 0;
}
int memory(Device device, nvml::Memory* value) {
  value->total = device->memory;
  value->free = device->memory / 2;
  return result_of(device->failures, "nvmlDeviceGetMemoryInfo");
}
int mig_mode(Device device, unsigned* current, unsigned* pending) {
  *current = *pending = device->mig_mode ? 1 : 0;
  return result_of(device->failures, "nvmlDeviceGetMigMode");
}
int max_instances(Device, unsigned* value) {
  *value = 7;
  return 0;
}
int instance(Device device, unsigned index, Device* out) {
  if (index >= device->instances.size()) {
    return nvml::kNotFound;
  }
  *out = &device->instances[index];
  return result_of((*out)->failures, "nvmlDeviceGetMigDeviceHandleByIndex");
}
int attributes(Device device, nvml::Attributes* value) {
  value->multiprocessors = device->multiprocessors;
  return 0;
}
int gpu_instance(Device device, unsigned* value) {
  *value = device->gpu_instance;
  return 0;
}
int compute_instance(Device device, unsigned* value) {
  *value = device->compute_instance;
  return 0;
}

int performance_state(Device device, unsigned* value) {
  *value = device->performance_state;
  return 0;
}
int generation(Device device, unsigned* value) {
  *value = device->generation;
  return result_of(device->failures, "nvmlDeviceGetCurrPcieLinkGeneration");
}
int max_generation(Device, unsigned* value) {
  *value = 4;
  return 0;
}
int width(Device device, unsigned* value) {
  *value = device->width;
  return 0;
}
int max_width(Device, unsigned* value) {
  *value = 16;
  return 0;
}
int link_state(Device device, unsigned link, int* up) {
  if (static_cast<int>(link) >= device->links) {
    return device->links == 0 ? nvml::kNotSupported : kInvalidArgument;
  }
  *up = static_cast<int>(link) < device->links_up ? 1 : 0;
  return result_of(device->failures, "nvmlDeviceGetNvLinkState");
}
int peer_status(Device device, Device other, int, int* status) {
  const auto& peers = device->peers;
  *status = std::find(peers.begin(), peers.end(), other->uuid) == peers.end() ? 5 : 0;
  return result_of(device->failures, "nvmlDeviceGetP2PStatus");
}
int fabric(Device device, nvml::FabricInfo* info) {
  info->state = device->fabric;
  return 0;
}
int compute_mode(Device device, int* mode) {
  *mode = device->compute_mode;
  return 0;
}
int persistence(Device device, int* mode) {
  *mode = device->persistence;
  return 0;
}
int power_default(Device, unsigned* value) {
  *value = 400000;
  return 0;
}
int power_limit(Device device, unsigned* value) {
  *value = device->power_limit;
  return 0;
}
int clock_reasons(Device device, unsigned long long* bits) {
  *bits = device->clock_reasons;
  return 0;
}
int ecc_errors(Device device, int type, int counter, unsigned long long* errors) {
  *errors = type == 1 && counter == 0 ? device->ecc_errors : 777;
  return 0;
}
int remapped_rows(Device device, unsigned*, unsigned*, unsigned* pending, unsigned* failed) {
  *pending = device->repair_pending;
  *failed = device->repair_failed;
  return result_of(device->failures, "nvmlDeviceGetRemappedRows");
}
int retired_pages(Device device, int* pending) {
  *pending = static_cast<int>(device->repair_pending);
  return 0;
}

int cu_init(unsigned) {
  ++cuda_state->init_calls;
  while (cuda_state->init_hangs) {
    ::sleep(1);
  }
  return cuda_state->init_result;
}
int cu_version(int* version) {
  *version = cuda_state->version;
  return 0;
}
int cu_error_string(int result, const char** text) {
  *text = result == 803 ? "system has unsupported display driver / cuda driver combination"
                        : "no CUDA-capable device is detected";
  return 0;
}
int cu_count(int* value) {
  *value = static_cast<int>(cuda_state->devices.size());
  return 0;
}
int cu_device(int* device, int index) {
  *device = index;
  return 0;
}
int cu_name(char* buffer, int size, int device) {
  return copy_text(cuda_state->devices[static_cast<size_t>(device)].name, buffer,
                   static_cast<unsigned>(size));
}
int cu_bus_id(char* buffer, int size, int device) {
  return copy_text(cuda_state->devices[static_cast<size_t>(device)].bus_id, buffer,
                   static_cast<unsigned>(size));
}
int cu_uuid(void* bytes, int device) {
  std::memset(bytes, cuda_state->devices[static_cast<size_t>(device)].uuid_byte, 16);
  return 0;
}
int cu_attribute(int* value, int attribute, int device) {
  const FakeCudaDevice& of = cuda_state->devices[static_cast<size_t>(device)];
  *value = attribute == 75 ? of.major : attribute == 76 ? of.minor : 108;
  return 0;
}
int cu_memory(size_t* bytes, int) {
  *bytes = size_t{40} << 30U;
  return 0;
}

template <class Function>
void* address(Function* function) {
  return reinterpret_cast<void*>(function);
}

}  // namespace

std::shared_ptr<FakeLibrary> fake_nvml_library(FakeNvml& state) {
  nvml_state = &state;
  auto library = std::make_shared<FakeLibrary>();
  library->symbols = {
      {"nvmlInit_v2", address(init)},
      {"nvmlShutdown", address(shutdown)},
      {"nvmlErrorString", address(error_string)},
      {"nvmlSystemGetDriverVersion", address(driver_version)},
      {"nvmlSystemGetCudaDriverVersion_v2", address(cuda_version)},
      {"nvmlDeviceGetCount_v2", address(count)},
      {"nvmlDeviceGetHandleByIndex_v2", address(handle)},
      {"nvmlDeviceGetUUID", address(uuid)},
      {"nvmlDeviceGetName", address(name)},
      {"nvmlDeviceGetPciInfo_v3", address(pci)},
      {"nvmlDeviceGetCudaComputeCapability", address(capability)},
      {"nvmlDeviceGetNumGpuCores", address(cores)},
      {"nvmlDeviceGetMemoryInfo", address(memory)},
      {"nvmlDeviceGetMigMode", address(mig_mode)},
      {"nvmlDeviceGetMaxMigDeviceCount", address(max_instances)},
      {"nvmlDeviceGetMigDeviceHandleByIndex", address(instance)},
      {"nvmlDeviceGetAttributes_v2", address(attributes)},
      {"nvmlDeviceGetGpuInstanceId", address(gpu_instance)},
      {"nvmlDeviceGetComputeInstanceId", address(compute_instance)},
      {"nvmlDeviceGetCurrPcieLinkGeneration", address(generation)},
      {"nvmlDeviceGetMaxPcieLinkGeneration", address(max_generation)},
      {"nvmlDeviceGetPerformanceState", address(performance_state)},
      {"nvmlDeviceGetCurrPcieLinkWidth", address(width)},
      {"nvmlDeviceGetMaxPcieLinkWidth", address(max_width)},
      {"nvmlDeviceGetNvLinkState", address(link_state)},
      {"nvmlDeviceGetP2PStatus", address(peer_status)},
      {"nvmlDeviceGetGpuFabricInfo", address(fabric)},
      {"nvmlDeviceGetComputeMode", address(compute_mode)},
      {"nvmlDeviceGetPersistenceMode", address(persistence)},
      {"nvmlDeviceGetPowerManagementDefaultLimit", address(power_default)},
      {"nvmlDeviceGetEnforcedPowerLimit", address(power_limit)},
      {"nvmlDeviceGetCurrentClocksThrottleReasons", address(clock_reasons)},
      {"nvmlDeviceGetTotalEccErrors", address(ecc_errors)},
      {"nvmlDeviceGetRemappedRows", address(remapped_rows)},
      {"nvmlDeviceGetRetiredPagesPendingStatus", address(retired_pages)},
  };
  return library;
}

std::shared_ptr<FakeLibrary> fake_cuda_library(FakeCuda& state) {
  cuda_state = &state;
  auto library = std::make_shared<FakeLibrary>();
  library->symbols = {
      {"cuInit", address(cu_init)},
      {"cuDriverGetVersion", address(cu_version)},
      {"cuGetErrorString", address(cu_error_string)},
      {"cuDeviceGetCount", address(cu_count)},
      {"cuDeviceGet", address(cu_device)},
      {"cuDeviceGetName", address(cu_name)},
      {"cuDeviceGetPCIBusId", address(cu_bus_id)},
      {"cuDeviceGetUuid_v2", address(cu_uuid)},
      {"cuDeviceGetAttribute", address(cu_attribute)},
      {"cuDeviceTotalMem_v2", address(cu_memory)},
  };
  return library;
}

}  // namespace libtrain
