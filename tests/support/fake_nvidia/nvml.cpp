// libnvidia-ml.so.1 without a GPU: what a description says, and of the rest a healthy A100.
#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "libtrain/probe/nvml_call.hpp"
#include "tests/support/fake_nvidia/description.hpp"

#define NVML extern "C" __attribute__((visibility("default")))

namespace {

using fake_nvidia::copy_text;
using fake_nvidia::Part;
using Device = Part*;

constexpr int kInvalidArgument = 2;

fake_nvidia::Description machine;

/// The number `name` of the device goes to `value`, unless `function` is refused.
template <class T>
int tell(Device device, const char* function, T* value, const char* name, long long otherwise) {
  const int refusal = device->refusal(function);
  if (refusal == 0) {
    *value = static_cast<T>(device->number(name, otherwise));
  }
  return refusal;
}

int tell_text(Device device, const char* function, const std::string& text, char* buffer,
              unsigned size) {
  const int refusal = device->refusal(function);
  return refusal != 0 ? refusal : copy_text(text, buffer, size);
}

/// "switch", "cpu" or the bus id at the other end of a link: the words of `ends`, the last of which
/// stands for all that follow.
std::string link_end(const Part& device, unsigned link) {
  std::istringstream ends(device.text("ends", "switch"));
  std::string end;
  ends >> end;
  for (std::string next; link > 0 && ends >> next; --link) {
    end = next;
  }
  return end;
}

}  // namespace

NVML int nvmlInit_v2() {
  fake_nvidia::log_call(__func__);
  machine = fake_nvidia::read_description();
  return machine.system.refusal(__func__);
}
NVML int nvmlShutdown() {
  fake_nvidia::log_call(__func__);
  return 0;
}
NVML const char* nvmlErrorString(int result) {
  switch (result) {
    case 3:
      return "Not Supported";
    case 4:
      return "Insufficient Permissions";
    case 9:
      return "Driver Not Loaded";
    case 15:
      return "GPU is lost";
    case 18:
      return "Driver/library version mismatch";
    default:
      return "Unknown Error";
  }
}
NVML int nvmlSystemGetDriverVersion(char* buffer, unsigned size) {
  return tell_text(&machine.system, __func__, machine.system.text("driver", "580.105.08"), buffer,
                   size);
}
NVML int nvmlSystemGetCudaDriverVersion_v2(int* version) {
  return tell(&machine.system, __func__, version, "cuda", 13000);
}
NVML int nvmlDeviceGetCount_v2(unsigned* count) {
  return tell(&machine.system, __func__, count, "count",
              static_cast<long long>(machine.gpus.size()));
}
NVML int nvmlDeviceGetHandleByIndex_v2(unsigned index, Device* device) {
  if (index >= machine.gpus.size()) {
    return kInvalidArgument;
  }
  *device = &machine.gpus[index];
  return (*device)->refusal(__func__);
}
NVML int nvmlDeviceGetUUID(Device device, char* buffer, unsigned size) {
  return tell_text(device, __func__, device->text("uuid"), buffer, size);
}
NVML int nvmlDeviceGetName(Device device, char* buffer, unsigned size) {
  return tell_text(device, __func__, device->text("name", "NVIDIA A100-SXM4-40GB"), buffer, size);
}
NVML int nvmlDeviceGetPciInfo_v3(Device device, libtrain::nvml::PciInfo* info) {
  info->pci_device_id = static_cast<unsigned>(device->number("pci_device_id", 0x20B010DE));
  return tell_text(device, __func__, device->text("bus_id", "00000000:17:00.0"),
                   info->bus_id.data(), static_cast<unsigned>(info->bus_id.size()));
}
NVML int nvmlDeviceGetCudaComputeCapability(Device device, int* major, int* minor) {
  *minor = static_cast<int>(device->number("minor", 0));
  return tell(device, __func__, major, "major", 8);
}
NVML int nvmlDeviceGetNumGpuCores(Device device, unsigned* cores) {
  return tell(device, __func__, cores, "cores", 6912);
}
NVML int nvmlDeviceGetMemoryInfo(Device device, libtrain::nvml::Memory* memory) {
  memory->free = static_cast<unsigned long long>(device->number("free", 20LL << 30U));
  return tell(device, __func__, &memory->total, "memory", 40LL << 30U);
}
NVML int nvmlDeviceGetBAR1MemoryInfo(Device device, libtrain::nvml::Bar1* bar1) {
  return tell(device, __func__, &bar1->total, "bar1", 64LL << 30U);
}
NVML int nvmlDeviceGetGridLicensableFeatures_v4(Device device,
                                                libtrain::nvml::LicensableFeatures* features) {
  features->count = 1;
  features->features[0].enabled = static_cast<unsigned>(device->number("vgpu"));
  features->features[0].licensed = static_cast<unsigned>(device->number("licensed"));
  return tell(device, __func__, &features->supported, "licensable", device->number("vgpu"));
}
NVML int nvmlDeviceGetMaxClockInfo(Device device, int kind, unsigned* mhz) {
  constexpr int kMultiprocessors = 1;
  return tell(device, __func__, mhz, kind == kMultiprocessors ? "clock_max" : "other_clock", 1410);
}
NVML int nvmlDeviceGetClockInfo(Device device, int kind, unsigned* mhz) {
  constexpr int kMultiprocessors = 1;
  return tell(device, __func__, mhz, kind == kMultiprocessors ? "clock" : "other_clock", 210);
}
NVML int nvmlDeviceGetPowerUsage(Device device, unsigned* milliwatts) {
  return tell(device, __func__, milliwatts, "power", 51500);
}
NVML int nvmlDeviceGetNvLinkVersion(Device device, unsigned, unsigned* version) {
  return tell(device, __func__, version, "nvlink_version", 3);
}
NVML int nvmlDeviceGetComputeRunningProcesses_v3(Device device, unsigned* count,
                                                 libtrain::nvml::Process* processes) {
  processes[0].used_memory = static_cast<unsigned long long>(device->number("process_memory"));
  return tell(device, __func__, count, "processes", 0);
}
NVML int nvmlDeviceGetMigMode(Device device, unsigned* current, unsigned* pending) {
  *pending = static_cast<unsigned>(device->number("mig_mode"));
  return tell(device, __func__, current, "mig_mode", 0);
}
NVML int nvmlDeviceGetMaxMigDeviceCount(Device device, unsigned* count) {
  return tell(device, __func__, count, "max_instances", 7);
}
NVML int nvmlDeviceGetMigDeviceHandleByIndex(Device device, unsigned index, Device* instance) {
  if (index >= device->instances.size()) {
    return libtrain::nvml::kNotFound;
  }
  *instance = &device->instances[index];
  return (*instance)->refusal(__func__);
}
NVML int nvmlDeviceGetAttributes_v2(Device device, libtrain::nvml::Attributes* attributes) {
  return tell(device, __func__, &attributes->multiprocessors, "multiprocessors", 0);
}
NVML int nvmlDeviceGetGpuInstanceId(Device device, unsigned* id) {
  return tell(device, __func__, id, "gpu_instance", 0);
}
NVML int nvmlDeviceGetComputeInstanceId(Device device, unsigned* id) {
  return tell(device, __func__, id, "compute_instance", 0);
}
NVML int nvmlDeviceGetCurrPcieLinkGeneration(Device device, unsigned* value) {
  return tell(device, __func__, value, "generation", 4);
}
NVML int nvmlDeviceGetMaxPcieLinkGeneration(Device device, unsigned* value) {
  return tell(device, __func__, value, "generation_max", 4);
}
NVML int nvmlDeviceGetCurrPcieLinkWidth(Device device, unsigned* value) {
  return tell(device, __func__, value, "width", 16);
}
NVML int nvmlDeviceGetMaxPcieLinkWidth(Device device, unsigned* value) {
  return tell(device, __func__, value, "width_max", 16);
}
NVML int nvmlDeviceGetPerformanceState(Device device, unsigned* value) {
  return tell(device, __func__, value, "performance_state", 0);
}
NVML int nvmlDeviceGetNvLinkState(Device device, unsigned link, int* up) {
  const long long links = device->number("links", 12);
  if (link >= links) {
    return links == 0 ? libtrain::nvml::kNotSupported : kInvalidArgument;
  }
  *up = link < device->number("links_up", links) ? 1 : 0;
  return device->refusal(__func__);
}
NVML int nvmlDeviceGetNvLinkRemoteDeviceType(Device device, unsigned link, int* type) {
  const std::string end = link_end(*device, link);
  *type = end == "cpu" ? 1 : end == "switch" ? 2 : 0;
  return device->refusal(__func__);
}
NVML int nvmlDeviceGetNvLinkRemotePciInfo_v2(Device device, unsigned link,
                                             libtrain::nvml::PciInfo* info) {
  const std::string end = link_end(*device, link);
  return tell_text(device, __func__, end == "switch" ? device->text("switch_bus_id") : end,
                   info->bus_id.data(), static_cast<unsigned>(info->bus_id.size()));
}
NVML int nvmlDeviceGetCpuAffinity(Device device, unsigned words, unsigned long* set) {
  std::fill(set, set + words, 0UL);
  set[1] = static_cast<unsigned long>(device->number("cpus_from_64"));
  return tell(device, __func__, &set[0], "cpus", 0xFF);
}
NVML int nvmlDeviceGetP2PStatus(Device device, Device other, int, int* status) {
  constexpr int kNotSupported = 5;
  std::istringstream peers(device->text("peers"));  // UUIDs, or "all"
  *status = kNotSupported;
  for (std::string peer; peers >> peer;) {
    *status = peer == "all" || peer == other->text("uuid") ? 0 : *status;
  }
  return device->refusal(__func__);
}
NVML int nvmlDeviceGetGpuFabricInfo(Device device, libtrain::nvml::FabricInfo* info) {
  return tell(device, __func__, &info->state, "fabric", 0);
}
NVML int nvmlDeviceGetComputeMode(Device device, int* mode) {
  return tell(device, __func__, mode, "compute_mode", 0);
}
NVML int nvmlDeviceGetPersistenceMode(Device device, int* mode) {
  return tell(device, __func__, mode, "persistence", 1);
}
NVML int nvmlDeviceGetPowerManagementDefaultLimit(Device device, unsigned* milliwatts) {
  return tell(device, __func__, milliwatts, "power_default", 400000);
}
NVML int nvmlDeviceGetEnforcedPowerLimit(Device device, unsigned* milliwatts) {
  return tell(device, __func__, milliwatts, "power_limit", 400000);
}
NVML int nvmlDeviceGetCurrentClocksThrottleReasons(Device device, unsigned long long* bits) {
  return tell(device, __func__, bits, "clock_reasons", 1);
}
NVML int nvmlDeviceGetTemperature(Device device, int sensor, unsigned* celsius) {
  return tell(device, __func__, celsius, sensor == 0 ? "temperature" : "other_sensor", 40);
}
NVML int nvmlDeviceGetTemperatureThreshold(Device device, int kind, unsigned* celsius) {
  constexpr int kSlowdown = 1;
  return tell(device, __func__, celsius, kind == kSlowdown ? "slowdown" : "other_threshold", 90);
}
NVML int nvmlDeviceGetTotalEccErrors(Device device, int type, int counter,
                                     unsigned long long* errors) {
  const bool uncorrected_since_start = type == 1 && counter == 0;
  return tell(device, __func__, errors, uncorrected_since_start ? "ecc_errors" : "other_errors", 0);
}
NVML int nvmlDeviceGetRemappedRows(Device device, unsigned*, unsigned*, unsigned* pending,
                                   unsigned* failed) {
  *failed = static_cast<unsigned>(device->number("repair_failed"));
  return tell(device, __func__, pending, "repair_pending", 0);
}
NVML int nvmlDeviceGetRetiredPagesPendingStatus(Device device, int* pending) {
  return tell(device, __func__, pending, "repair_pending", 0);
}
