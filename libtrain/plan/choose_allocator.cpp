#include "libtrain/plan/choose_allocator.hpp"

namespace libtrain {
namespace {

/// "PYTORCH_ALLOC_CONF=..." where the user has set it, else empty.
std::string torch_setting(const LaunchFacts& launch) {
  for (const std::string name : {"PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF"}) {
    if (const auto found = launch.variables.find(name); found != launch.variables.end()) {
      return fill("{}={}", name, quote(found->second));
    }
  }
  return "";
}

/// Why `setting` cannot be made here, empty when it can or when that is unknown.
std::string lack_of(AllocatorSetting setting, DeviceType device, const HostFacts& host) {
  switch (setting) {
    case AllocatorSetting::kUnchanged:
      return "";
    case AllocatorSetting::kGlibcThresholds:
      return host.libc && !host.libc->starts_with("glibc")
                 ? fill("the C library is {}, not glibc", quote(*host.libc))
                 : "";
    case AllocatorSetting::kExpandableSegments:
      if (device == DeviceType::kCpu) {
        return "expandable segments are for CUDA memory";
      }
      if (host.wsl == true) {
        return "WSL lacks the driver calls for expandable segments";
      }
      return host.os && *host.os != "linux"
                 ? fill("expandable segments need Linux, not {}", quote(*host.os))
                 : "";
  }
  return "";
}

}  // namespace

Decision<AllocatorSetting> choose_allocator(const Request<AllocatorSetting>& asked,
                                            DeviceType device, const HostFacts& host,
                                            const LaunchFacts& launch,
                                            bool allow_process_settings) {
  const std::string user = device == DeviceType::kCuda ? torch_setting(launch) : "";
  if (asked.value) {
    if (const std::string lack = lack_of(*asked.value, device, host); !lack.empty()) {
      refuse("allocator", to_text(*asked.value), asked.origin, lack, "ask for unchanged");
    }
    const bool over = !user.empty() && *asked.value == AllocatorSetting::kExpandableSegments;
    return grant(asked, over ? fill("set over {}", user) : "");
  }
  if (!user.empty()) {
    return {AllocatorSetting::kUnchanged, Source::kEnvironment, user};
  }
  const AllocatorSetting best = device == DeviceType::kCuda ? AllocatorSetting::kExpandableSegments
                                                            : AllocatorSetting::kGlibcThresholds;
  if (const std::string lack = lack_of(best, device, host); !lack.empty()) {
    return {AllocatorSetting::kUnchanged, Source::kFacts, lack};
  }
  if (!allow_process_settings) {
    return {AllocatorSetting::kUnchanged, Source::kDefault,
            fill("{} cannot be undone in a host process, ask for it", to_text(best))};
  }
  if (device == DeviceType::kCuda) {
    return {best, Source::kFacts, "growing segments keep CUDA memory from fragmenting"};
  }
  if (!host.libc) {
    return {AllocatorSetting::kUnchanged, Source::kDefault, "the C library is unknown"};
  }
  return {best, Source::kFacts, fill("{} keeps freed tensors mapped", quote(*host.libc))};
}

}  // namespace libtrain
