#include "libtrain/probe/nvml_health.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

namespace libtrain {
namespace {

// Values of nvml.h (CUDA 13.0).
constexpr int kUncorrected = 1;  // NVML_MEMORY_ERROR_TYPE_UNCORRECTED
constexpr int kVolatile = 0;     // NVML_VOLATILE_ECC

/// nvmlClocksEventReason*.
constexpr std::array<std::pair<unsigned, const char*>, 9> kClockReasons{{
    {0x1, "idle"},
    {0x2, "application clocks"},
    {0x4, "power cap"},
    {0x8, "hardware slowdown"},
    {0x10, "sync boost"},
    {0x20, "software thermal"},
    {0x40, "hardware thermal"},
    {0x80, "power brake"},
    {0x100, "display clocks"},
}};

std::vector<std::string> clock_reasons(unsigned long long bits) {
  std::vector<std::string> out;
  for (const auto& [bit, name] : kClockReasons) {
    if ((bits & bit) != 0) {
      out.emplace_back(name);
    }
  }
  return out;
}

std::optional<std::string> compute_mode(int mode) {
  switch (mode) {
    case 0:
      return "default";
    case 2:
      return "prohibited";
    case 1:
    case 3:
      return "exclusive process";
    default:
      return std::nullopt;
  }
}

/// nvmlGpuFabricState_t; a GPU without NVSwitch is in state 0.
std::optional<std::string> fabric_state(unsigned char state) {
  constexpr std::array<std::string_view, 4> kStates{"", "not started", "in progress", "completed"};
  return state > 0 && state < kStates.size() ? std::optional<std::string>(kStates[state])
                                             : std::nullopt;
}

std::optional<double> watts(std::optional<int> milliwatts) {
  return milliwatts ? std::optional(*milliwatts / 1000.0) : std::nullopt;
}

/// Nothing for what is no temperature.
std::optional<int> degrees(unsigned value) {
  constexpr unsigned kHottest = 500;
  return value < kHottest ? std::optional(static_cast<int>(value)) : std::nullopt;
}

void read_clock_reasons(DeviceReader& reader, GpuFacts& facts) {
  unsigned long long bits = 0;
  // The older name answers on every driver; CUDA 12.2 renamed it.
  if (reader.ask("clock_reasons", "nvmlDeviceGetCurrentClocksThrottleReasons", &bits)) {
    facts.clock_reasons = clock_reasons(bits);
  }
}

void read_temperature(DeviceReader& reader, GpuFacts& facts) {
  constexpr int kOfTheGpu = 0;  // NVML_TEMPERATURE_GPU
  constexpr int kSlowdown = 1;  // NVML_TEMPERATURE_THRESHOLD_SLOWDOWN
  unsigned value = 0;
  if (reader.ask("temperature_celsius", "nvmlDeviceGetTemperature", kOfTheGpu, &value)) {
    facts.temperature_celsius = degrees(value);
  }
  if (reader.ask("slowdown_celsius", "nvmlDeviceGetTemperatureThreshold", kSlowdown, &value)) {
    facts.slowdown_celsius = degrees(value);
  }
}

void read_memory_repairs(DeviceReader& reader, GpuFacts& facts) {
  unsigned long long errors = 0;
  if (reader.ask("ecc_uncorrected", "nvmlDeviceGetTotalEccErrors", kUncorrected, kVolatile,
                 &errors)) {
    facts.ecc_uncorrected = nvml::count_of(errors);
  }
  unsigned corrected = 0;
  unsigned uncorrected = 0;
  unsigned pending = 0;
  unsigned failed = 0;
  int retiring = 0;
  if (reader.ask("repair_failed", "nvmlDeviceGetRemappedRows", &corrected, &uncorrected, &pending,
                 &failed)) {
    facts.repair_pending = pending != 0;
    facts.repair_failed = failed != 0;
  } else if (reader.ask("repair_pending", "nvmlDeviceGetRetiredPagesPendingStatus", &retiring)) {
    facts.repair_pending = retiring == 1;  // before Ampere pages are retired, not rows remapped
  }
}

void read_clocks_and_power(DeviceReader& reader, GpuFacts& facts) {
  constexpr int kOfTheMultiprocessors = 1;  // NVML_CLOCK_SM
  unsigned value = 0;
  if (reader.ask("clock_max_mhz", "nvmlDeviceGetMaxClockInfo", kOfTheMultiprocessors, &value)) {
    facts.clock_max_mhz = static_cast<int>(value);
  }
  if (reader.ask("clock_mhz", "nvmlDeviceGetClockInfo", kOfTheMultiprocessors, &value)) {
    facts.clock_mhz = static_cast<int>(value);
  }
  facts.power_watts = watts(reader.number("power_watts", "nvmlDeviceGetPowerUsage"));
  facts.power_default_watts =
      watts(reader.number("power_default_watts", "nvmlDeviceGetPowerManagementDefaultLimit"));
  facts.power_limit_watts =
      watts(reader.number("power_limit_watts", "nvmlDeviceGetEnforcedPowerLimit"));
}

/// Unknown where one process's share is, as under WSL, or there are more than fit.
void read_processes(DeviceReader& reader, GpuFacts& facts) {
  constexpr const char* kName = "nvmlDeviceGetComputeRunningProcesses_v3";
  std::array<nvml::Process, 64> processes{};
  auto count = static_cast<unsigned>(processes.size());
  if (!reader.ask("processes_bytes", kName, &count, processes.data())) {
    return;
  }
  int64_t sum = 0;
  for (size_t i = 0; i < std::min<size_t>(count, processes.size()); ++i) {
    const std::optional<int64_t> bytes = nvml::count_of(processes[i].used_memory);
    if (!bytes) {
      return;
    }
    sum += *bytes;
  }
  facts.processes_bytes = sum;
}

/// A card that stands alone has no licence to tell of: only a vGPU has a feature that is enabled.
void read_licence(DeviceReader& reader, GpuFacts& facts) {
  nvml::LicensableFeatures features;
  if (!reader.ask("virtual_gpu_licensed", "nvmlDeviceGetGridLicensableFeatures_v4", &features)) {
    return;
  }
  for (const nvml::LicensableFeature& feature : features.features) {
    if (features.supported != 0 && feature.enabled != 0) {
      facts.virtual_gpu_licensed =
          facts.virtual_gpu_licensed.value_or(false) || feature.licensed != 0;
    }
  }
}

}  // namespace

void read_health(DeviceReader& reader, GpuFacts& facts) {
  facts.pcie_generation_max =
      reader.number("pcie_generation_max", "nvmlDeviceGetMaxPcieLinkGeneration");
  facts.pcie_width_max = reader.number("pcie_width_max", "nvmlDeviceGetMaxPcieLinkWidth");
  facts.pcie_generation = reader.number("pcie_generation", "nvmlDeviceGetCurrPcieLinkGeneration");
  facts.pcie_width = reader.number("pcie_width", "nvmlDeviceGetCurrPcieLinkWidth");
  constexpr int kUnknownState = 32;  // NVML_PSTATE_UNKNOWN
  facts.performance_state = reader.number("performance_state", "nvmlDeviceGetPerformanceState");
  if (facts.performance_state == kUnknownState) {
    facts.performance_state.reset();
  }
  facts.cpu_affinity = reader.cpu_affinity();
  reader.read_links(facts);
  unsigned version = 0;
  if (facts.nvlinks.value_or(0) > 0 &&
      reader.ask("nvlink_version", "nvmlDeviceGetNvLinkVersion", 0U, &version)) {
    facts.nvlink_version = static_cast<int>(version);
  }
  nvml::Bar1 bar1;
  if (reader.ask("bar1_bytes", "nvmlDeviceGetBAR1MemoryInfo", &bar1)) {
    facts.bar1_bytes = nvml::count_of(bar1.total);
  }
  read_licence(reader, facts);
  nvml::FabricInfo fabric;
  if (reader.ask("fabric", "nvmlDeviceGetGpuFabricInfo", &fabric)) {
    facts.fabric = fabric_state(fabric.state);
  }
  int mode = 0;
  if (reader.ask("compute_mode", "nvmlDeviceGetComputeMode", &mode)) {
    facts.compute_mode = compute_mode(mode);
  }
  int persistence = 0;
  if (reader.ask("persistence", "nvmlDeviceGetPersistenceMode", &persistence)) {
    facts.persistence = persistence == 1;
  }
  read_clocks_and_power(reader, facts);
  read_processes(reader, facts);
  read_temperature(reader, facts);
  read_clock_reasons(reader, facts);
  read_memory_repairs(reader, facts);
}

}  // namespace libtrain
