#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string_view>

#include "libtrain/probe/cgroup.hpp"
#include "libtrain/probe/cpu_list.hpp"
#include "libtrain/probe/cpuinfo.hpp"
#include "libtrain/probe/kernel_driver.hpp"
#include "libtrain/probe/limits.hpp"
#include "libtrain/probe/loaded_libraries.hpp"
#include "libtrain/probe/pci_bridges.hpp"
#include "libtrain/probe/xid.hpp"

namespace {

void require_that(bool holds) {
  if (!holds) {
    std::abort();
  }
}

void require_share(const std::optional<double>& share) {
  require_that(!share || (std::isfinite(*share) && *share > 0));
}

}  // namespace

/// Each parser of the kernel's texts takes any text.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace libtrain;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto cpus = parse_cpu_list(text)) {
    require_that(std::ranges::adjacent_find(*cpus, std::greater_equal<>()) == cpus->end());
    require_that(cpus->empty() || (cpus->front() >= 0 && cpus->back() <= 65535));
  }
  require_share(parse_cpu_max(text));
  require_share(parse_cfs_quota(text, text));
  for (const CgroupMount& mount : parse_cgroup_mounts(text)) {
    for (const std::string& folder : cgroup_folders(mount, std::string(text))) {
      require_that(folder.starts_with(mount.mount_point));
    }
  }
  for (const auto& [cpu, place] : parse_cpuinfo(text).cores) {
    require_that(cpu >= 0 && place.first >= 0 && place.second >= 0);
  }
  parse_soft_limit(text, "Max open files");
  require_that(parse_open_kernel_module(text).has_value() ==
               parse_kernel_driver_version(text).has_value());
  parse_module_refusal(text);
  kernel_bus_id(text);
  for (const auto& [bus, numbers] : parse_xids(text)) {
    require_that(!numbers.empty());
  }
  parse_loaded_libraries(text);
  parse_acs_redirect(text);
  return 0;
}
