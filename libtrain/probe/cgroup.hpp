#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libtrain/core/api.hpp"
#include "libtrain/probe/sources.hpp"

namespace libtrain {

/// What this process's control groups grant. Empty fields: no limit, or none that can be read.
struct CgroupLimits {
  std::optional<double> quota_cpus;     ///< smallest CPU quota of the group and all its parents
  std::optional<int64_t> memory_bytes;  ///< smallest memory limit of the group and all its parents
  std::optional<int> cpuset_cpus;       ///< CPUs of the nearest group with a cpuset

  friend bool operator==(const CgroupLimits&, const CgroupLimits&) = default;
};

/// A mounted control group hierarchy (man 5 proc, /proc/self/mountinfo).
struct CgroupMount {
  bool version2 = false;
  std::string root;  ///< the group that the mount point shows
  std::string mount_point;
  std::vector<std::string> controllers;  ///< version 1 only: "cpu", "memory", "name=systemd"

  friend bool operator==(const CgroupMount&, const CgroupMount&) = default;
};

/// Lines of other file systems and broken lines are left out.
LT_API std::vector<CgroupMount> parse_cgroup_mounts(std::string_view mountinfo);

/// The folders that show group `path` of a hierarchy and its parents, innermost first. A path that
/// is not below the mount's root (another namespace wrote it) leaves the mount point alone.
LT_API std::vector<std::string> cgroup_folders(const CgroupMount& mount, const std::string& path);

/// cpu.max of version 2, "250000 100000"; the period defaults to 100000 µs as in the kernel.
LT_API std::optional<double> parse_cpu_max(std::string_view text);
/// cpu.cfs_quota_us and cpu.cfs_period_us of version 1; a quota of -1 is no limit.
LT_API std::optional<double> parse_cfs_quota(std::string_view quota,
                                             std::optional<std::string_view> period);

/// Reads both versions where both are mounted: a controller lives in one of them.
LT_API CgroupLimits probe_cgroup(const Sources& sources);

}  // namespace libtrain
