#include "libtrain/probe/host.hpp"

#include <algorithm>
#include <cctype>

#include "libtrain/core/text.hpp"
#include "libtrain/probe/container.hpp"
#include "libtrain/probe/limits.hpp"

namespace libtrain {
namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::optional<std::string> if_known(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

/// The bytes that `key` of /proc/meminfo tells.
std::optional<int64_t> memory_of(std::string_view meminfo, std::string_view key) {
  for (const std::string_view line : split(meminfo, '\n')) {
    constexpr std::string_view kUnit = " kB";
    if (line.starts_with(key) && line.ends_with(kUnit)) {
      const std::string_view digits =
          line.substr(key.size(), line.size() - key.size() - kUnit.size());
      const std::optional<int64_t> kibibytes = parse_integer(trim(digits));
      return kibibytes ? std::optional(*kibibytes * 1024) : std::nullopt;
    }
  }
  return std::nullopt;
}

/// CPUID says so on x86 (leaf 1, ECX bit 31, "hypervisor present"); elsewhere it is not known.
std::optional<bool> in_virtual_machine(const Sources& sources) {
  const std::optional<CpuidRegisters> features = sources.cpuid(1, 0);
  return features ? std::optional((features->ecx >> 31U) == 1) : std::nullopt;
}

/// CPUID leaf 0x40000000 holds the hypervisor's name in EBX, ECX and EDX (Linux,
/// Documentation/virt/kvm/x86/cpuid.rst).
std::optional<std::string> hypervisor_name(const Sources& sources) {
  const auto leaf = sources.cpuid(0x40000000, 0);
  std::string name;
  if (leaf) {
    for (const uint32_t part : {leaf->ebx, leaf->ecx, leaf->edx}) {
      for (unsigned shift = 0; shift < 32; shift += 8) {
        name.push_back(static_cast<char>((part >> shift) & 0xFFU));
      }
    }
  }
  name.resize(std::min(name.find('\0'), name.size()));
  const bool plain =
      std::all_of(name.begin(), name.end(), [](char c) { return c >= ' ' && c <= '~'; });
  return plain ? if_known(std::string(trim(name))) : std::nullopt;
}

std::optional<int> overcommit(const Sources& sources) {
  const auto text = sources.read("/proc/sys/vm/overcommit_memory");
  const std::optional<int64_t> mode = text ? parse_integer(trim(*text)) : std::nullopt;
  return mode && *mode >= 0 && *mode <= 2 ? std::optional(static_cast<int>(*mode)) : std::nullopt;
}

}  // namespace

HostFacts probe_host(const Sources& sources, const CgroupLimits& limits) {
  const SystemName system = sources.system_name();
  HostFacts out;
  out.os = if_known(lower(system.os));
  out.kernel = if_known(system.kernel);
  out.libc = if_known(system.libc);
  out.container_runtime = container_runtime(sources);
  out.container = out.container_runtime.has_value();
  out.wsl = lower(system.kernel).find("microsoft") != std::string::npos;
  const std::string meminfo = sources.read("/proc/meminfo").value_or("");
  out.memory_bytes = memory_of(meminfo, "MemTotal:");
  out.memory_available_bytes = memory_of(meminfo, "MemAvailable:");
  out.memory_limit_bytes = limits.memory_bytes;
  out.shared_memory_bytes = sources.file_system_bytes("/dev/shm");
  out.virtual_machine = in_virtual_machine(sources);
  if (out.virtual_machine == true) {
    out.hypervisor = hypervisor_name(sources);
  }
  out.overcommit_memory = overcommit(sources);
  const std::string resource_limits = sources.read("/proc/self/limits").value_or("");
  out.locked_memory_bytes = parse_soft_limit(resource_limits, "Max locked memory");
  out.open_files = parse_soft_limit(resource_limits, "Max open files");
  out.folder_writable = sources.writable(".");
  out.shared_memory_free_bytes = sources.file_system_free_bytes("/dev/shm");
  out.folder_free_bytes = sources.file_system_free_bytes(".");
  return out;
}

}  // namespace libtrain
