#include "libtrain/probe/cgroup.hpp"

#include <algorithm>

#include "libtrain/core/text.hpp"
#include "libtrain/probe/cpu_list.hpp"

namespace libtrain {
namespace {

/// The kernel's word for "no limit" in version 1 is LONG_MAX rounded to a page; no machine has
/// this.
constexpr int64_t kNoMemoryLimit = int64_t{1} << 60;

template <class T>
void keep_smaller(std::optional<T>& smallest, std::optional<T> value) {
  if (value && (!smallest || *value < *smallest)) {
    smallest = value;
  }
}

std::optional<double> share(std::optional<int64_t> quota, std::optional<int64_t> period) {
  if (!quota || !period || *quota <= 0 || *period <= 0) {
    return std::nullopt;
  }
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

/// Spaces and the like stand as \040 in mountinfo.
std::string unescape(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::string_view digits = text.substr(1, 3);
    if (text.front() == '\\' && digits.size() == 3 &&
        digits.find_first_not_of("01234567") == std::string_view::npos) {
      out.push_back(
          static_cast<char>((digits[0] - '0') * 64 + (digits[1] - '0') * 8 + digits[2] - '0'));
      text.remove_prefix(4);
    } else {
      out.push_back(text.front());
      text.remove_prefix(1);
    }
  }
  return out;
}

/// The group of this process in the hierarchy of `mount`, from /proc/self/cgroup.
std::optional<std::string> own_group(std::string_view cgroups, const CgroupMount& mount) {
  for (const std::string_view line : split(cgroups, '\n')) {
    const size_t first = line.find(':');
    const size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) {
      continue;
    }
    const std::string_view names = line.substr(first + 1, second - first - 1);
    const auto controllers = split(names, ',');
    const bool same = mount.version2
                          ? names.empty()
                          : std::any_of(controllers.begin(), controllers.end(), [&](auto name) {
                              return std::find(mount.controllers.begin(), mount.controllers.end(),
                                               name) != mount.controllers.end();
                            });
    if (same) {
      return std::string(line.substr(second + 1));
    }
  }
  return std::nullopt;
}

std::optional<int> cpuset_size(const std::optional<std::string>& text) {
  const auto cpus = text ? parse_cpu_list(*text) : std::nullopt;
  return cpus && !cpus->empty() ? std::optional(static_cast<int>(cpus->size())) : std::nullopt;
}

void add_folder(CgroupLimits& limits, const Sources& sources, const CgroupMount& mount,
                const std::string& folder) {
  const auto file = [&](const char* name) { return sources.read(fill("{}/{}", folder, name)); };
  const auto memory = file(mount.version2 ? "memory.max" : "memory.limit_in_bytes");
  const std::optional<int64_t> bytes = memory ? parse_integer(trim(*memory)) : std::nullopt;
  if (bytes && *bytes < kNoMemoryLimit) {
    keep_smaller(limits.memory_bytes, bytes);
  }
  if (!limits.cpuset_cpus) {
    limits.cpuset_cpus =
        cpuset_size(file(mount.version2 ? "cpuset.cpus.effective" : "cpuset.effective_cpus"));
  }
  if (mount.version2) {
    if (const auto quota = file("cpu.max")) {
      keep_smaller(limits.quota_cpus, parse_cpu_max(*quota));
    }
  } else if (const auto quota = file("cpu.cfs_quota_us")) {
    keep_smaller(limits.quota_cpus, parse_cfs_quota(*quota, file("cpu.cfs_period_us")));
  }
}

}  // namespace

std::vector<CgroupMount> parse_cgroup_mounts(std::string_view mountinfo) {
  std::vector<CgroupMount> mounts;
  for (const std::string_view line : split(mountinfo, '\n')) {
    // ID parent device ROOT MOUNT-POINT options [optional fields] - TYPE source SUPER-OPTIONS
    const size_t separator = line.find(" - ");
    if (separator == std::string_view::npos) {
      continue;
    }
    const auto mount = split(line.substr(0, separator), ' ');
    const auto type = split(line.substr(separator + 3), ' ');
    if (mount.size() < 6 || type.size() < 3 || (type[0] != "cgroup" && type[0] != "cgroup2")) {
      continue;
    }
    CgroupMount out{.version2 = type[0] == "cgroup2",
                    .root = unescape(mount[3]),
                    .mount_point = unescape(mount[4]),
                    .controllers = {}};
    if (!out.version2) {
      for (const std::string_view option : split(type[2], ',')) {
        out.controllers.emplace_back(option);
      }
    }
    mounts.push_back(std::move(out));
  }
  return mounts;
}

std::vector<std::string> cgroup_folders(const CgroupMount& mount, const std::string& path) {
  const std::string root = mount.root == "/" ? "" : mount.root;
  std::string below;
  if (path.starts_with(root + "/") && path.find("/..") == std::string::npos) {
    below = path.substr(root.size());
  }
  std::vector<std::string> folders;
  while (below.size() > 1) {
    folders.push_back(mount.mount_point + below);
    below.resize(below.rfind('/'));
  }
  folders.push_back(mount.mount_point);
  return folders;
}

std::optional<double> parse_cpu_max(std::string_view text) {
  const auto parts = split(trim(text), ' ');
  if (parts.size() > 2) {
    return std::nullopt;
  }
  return share(parse_integer(parts[0]), parts.size() == 2 ? parse_integer(parts[1]) : 100000);
}

std::optional<double> parse_cfs_quota(std::string_view quota,
                                      std::optional<std::string_view> period) {
  return share(parse_integer(trim(quota)), period ? parse_integer(trim(*period)) : 100000);
}

CgroupLimits probe_cgroup(const Sources& sources) {
  CgroupLimits limits;
  const std::string cgroups = sources.read("/proc/self/cgroup").value_or("");
  const std::string mountinfo = sources.read("/proc/self/mountinfo").value_or("");
  for (const CgroupMount& mount : parse_cgroup_mounts(mountinfo)) {
    if (const std::optional<std::string> group = own_group(cgroups, mount)) {
      for (const std::string& folder : cgroup_folders(mount, *group)) {
        add_folder(limits, sources, mount, folder);
      }
    }
  }
  return limits;
}

}  // namespace libtrain
