#include "libtrain/probe/machine_sources.hpp"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/klog.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "libtrain/core/error.hpp"
#include "libtrain/core/file_system.hpp"

namespace libtrain {
namespace {

constexpr int64_t kMaxFileBytes = int64_t{16} << 20;  // /proc/cpuinfo of 2,000 processors
constexpr int kMaxCpus = 1 << 16;

/// Never closed: the driver's libraries leave threads and exit handlers behind.
class LoadedLibrary final : public DynamicLibrary {
 public:
  explicit LoadedLibrary(void* handle) : handle_(handle) {}
  void* symbol(const char* name) const override { return ::dlsym(handle_, name); }

 private:
  void* handle_;
};

std::optional<int64_t> blocks_in_bytes(const std::string& path, fsblkcnt_t statvfs::*blocks) {
  struct statvfs status {};
  if (::statvfs(path.c_str(), &status) != 0) {
    return std::nullopt;
  }
  return static_cast<int64_t>(status.*blocks) * static_cast<int64_t>(status.f_frsize);
}

}  // namespace

std::optional<std::string> MachineSources::read(const std::string& path) const {
  try {
    return read_file(path, kMaxFileBytes);
  } catch (const BadFile&) {
    return std::nullopt;
  }
}

std::vector<std::string> MachineSources::list(const std::string& path) const {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator at(path, error), end; !error && at != end;
       at.increment(error)) {
    names.push_back(at->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::optional<std::string> MachineSources::resolve(const std::string& path) const {
  std::error_code error;
  const std::filesystem::path target = std::filesystem::canonical(path, error);
  return error ? std::nullopt : std::optional(target.string());
}

std::optional<std::string> MachineSources::kernel_log() const {
  constexpr int kReadAll = 3;  // SYSLOG_ACTION_READ_ALL
  constexpr int kSize = 10;    // SYSLOG_ACTION_SIZE_BUFFER
  const int size = ::klogctl(kSize, nullptr, 0);
  if (size <= 0) {
    return std::nullopt;
  }
  std::string log(static_cast<size_t>(size), '\0');
  const int length = ::klogctl(kReadAll, log.data(), size);
  if (length < 0) {
    return std::nullopt;
  }
  log.resize(static_cast<size_t>(length));
  return log;
}

std::map<std::string, std::string> MachineSources::environment() const {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const size_t equals = text.find('=');
    if (equals != std::string_view::npos) {
      variables.emplace(text.substr(0, equals), text.substr(equals + 1));  // getenv: the first wins
    }
  }
  return variables;
}

#if defined(__x86_64__)

std::optional<CpuidRegisters> MachineSources::cpuid(uint32_t leaf, uint32_t subleaf) const {
  constexpr uint32_t kHypervisors = 0x40000000;  // above the highest leaf that a processor names
  CpuidRegisters out;
  if (leaf == kHypervisors) {
    __cpuid_count(leaf, subleaf, out.eax, out.ebx, out.ecx, out.edx);
    return out;
  }
  if (__get_cpuid_count(leaf, subleaf, &out.eax, &out.ebx, &out.ecx, &out.edx) == 0) {
    return std::nullopt;
  }
  return out;
}

uint64_t MachineSources::xcr0() const {
  constexpr uint32_t kOsxsave = 1U << 27U;
  const std::optional<CpuidRegisters> features = cpuid(1, 0);
  if (!features || (features->ecx & kOsxsave) == 0) {
    return 0;
  }
  uint32_t low = 0;
  uint32_t high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (static_cast<uint64_t>(high) << 32U) | low;
}

#else

std::optional<CpuidRegisters> MachineSources::cpuid(uint32_t, uint32_t) const {
  return std::nullopt;
}
uint64_t MachineSources::xcr0() const { return 0; }

#endif

std::vector<int> MachineSources::affinity() const {
  // The kernel refuses a mask smaller than its own; it does not say how large that is.
  for (int size = CPU_SETSIZE; size <= kMaxCpus; size *= 2) {
    const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> mask(
        CPU_ALLOC(size), [](cpu_set_t* set) { CPU_FREE(set); });
    const size_t bytes = CPU_ALLOC_SIZE(size);
    if (mask == nullptr) {
      return {};
    }
    if (::sched_getaffinity(0, bytes, mask.get()) == 0) {
      std::vector<int> cpus;
      for (int cpu = 0; cpu < size; ++cpu) {
        if (CPU_ISSET_S(static_cast<size_t>(cpu), bytes, mask.get())) {
          cpus.push_back(cpu);
        }
      }
      return cpus;
    }
    if (errno != EINVAL) {
      return {};
    }
  }
  return {};
}

SystemName MachineSources::system_name() const {
  SystemName out;
  struct utsname name {};
  if (::uname(&name) == 0) {
    out.os = name.sysname;
    out.kernel = name.release;
    out.machine = name.machine;
  }
#if defined(_CS_GNU_LIBC_VERSION)
  char libc[64] = {};
  if (::confstr(_CS_GNU_LIBC_VERSION, libc, sizeof(libc)) > 0) {
    out.libc = libc;
  }
#endif
  return out;
}

std::optional<int64_t> MachineSources::file_system_bytes(const std::string& path) const {
  return blocks_in_bytes(path, &statvfs::f_blocks);
}

std::optional<int64_t> MachineSources::file_system_free_bytes(const std::string& path) const {
  return blocks_in_bytes(path, &statvfs::f_bavail);
}

std::optional<bool> MachineSources::writable(const std::string& path) const {
  if (::access(path.c_str(), F_OK) != 0) {
    return std::nullopt;
  }
  return ::access(path.c_str(), W_OK | X_OK) == 0;
}

std::optional<std::map<std::string, std::vector<std::string>>> MachineSources::addresses() const {
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) {
    return std::nullopt;
  }
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> list(first, ::freeifaddrs);
  std::map<std::string, std::vector<std::string>> out;
  for (const ifaddrs* entry = first; entry != nullptr; entry = entry->ifa_next) {
    const sockaddr* address = entry->ifa_addr;
    if (address == nullptr || (address->sa_family != AF_INET && address->sa_family != AF_INET6)) {
      continue;
    }
    const void* bytes =
        address->sa_family == AF_INET
            ? static_cast<const void*>(&reinterpret_cast<const sockaddr_in*>(address)->sin_addr)
            : &reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr;
    std::array<char, INET6_ADDRSTRLEN> text{};
    if (::inet_ntop(address->sa_family, bytes, text.data(), text.size()) != nullptr) {
      const std::string_view name = entry->ifa_name;  // an old alias is "eth0:1"
      out[std::string(name.substr(0, name.find(':')))].emplace_back(text.data());
    }
  }
  return out;
}

std::shared_ptr<const DynamicLibrary> MachineSources::open_library(const std::string& name) const {
  void* handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  return handle == nullptr ? nullptr : std::make_shared<LoadedLibrary>(handle);
}

}  // namespace libtrain
