#include "libtrain/probe/visible_devices.hpp"

#include <algorithm>
#include <string_view>

#include "libtrain/core/text.hpp"

namespace libtrain {
namespace {

constexpr std::string_view kGpu = "GPU-";
constexpr std::string_view kMig = "MIG-";

bool is_instance(const NvmlDevice& device) { return device.facts.mig_instance.value_or(false); }

/// What tells physical GPUs apart: the instances of one share it.
std::string physical(const NvmlDevice& device) {
  return is_instance(device) ? device.parent_uuid : device.facts.uuid.value_or("");
}

/// The reachable devices of each physical GPU, in order.
std::vector<std::vector<size_t>> by_gpu(std::span<const NvmlDevice> devices) {
  std::vector<std::vector<size_t>> gpus;
  for (size_t i = 0; i < devices.size(); ++i) {
    if (!devices[i].reachable) {
      continue;
    }
    const bool same_gpu = i > 0 && is_instance(devices[i]) && is_instance(devices[i - 1]) &&
                          devices[i].facts.nvml_index == devices[i - 1].facts.nvml_index;
    if (!same_gpu) {
      gpus.emplace_back();
    }
    gpus.back().push_back(i);
  }
  return gpus;
}

/// As strtol reads it, but -1 for what does not start with a number or is too large.
int64_t leading_number(std::string_view text) {
  text = trim(text);
  if (text.starts_with('+')) {
    text.remove_prefix(1);
  }
  const size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
  return parse_integer(text.substr(0, end)).value_or(-1);
}

/// "MIG-GPU-<uuid>/<gpu instance>/<compute instance>", the form of drivers before R470.
std::string old_mig_id(const NvmlDevice& device) {
  if (!device.gpu_instance || !device.compute_instance) {
    return "";
  }
  return fill("{}{}/{}/{}", kMig, device.parent_uuid, *device.gpu_instance,
              *device.compute_instance);
}

class Resolver {
 public:
  explicit Resolver(std::span<const NvmlDevice> devices)
      : devices_(devices), gpus_(by_gpu(devices)) {}

  VisibleDevices all() const {
    VisibleDevices out;
    for (const std::vector<size_t>& gpu : gpus_) {
      out.order.insert(out.order.end(), gpu.begin(), gpu.end());
    }
    return out;
  }

  VisibleDevices resolve(std::string_view list) {
    const std::string_view kind = list.starts_with(kGpu)   ? kGpu
                                  : list.starts_with(kMig) ? kMig
                                                           : "";
    VisibleDevices out;
    for (const std::string_view entry : split(list, ',')) {
      const std::vector<size_t> named = kind.empty() ? by_index(entry) : by_id(entry, kind);
      if (named.empty()) {
        out.ended = fill("{} names {}", quote(entry), why_);
        return out;
      }
      for (const size_t position : named) {
        if (std::find(out.order.begin(), out.order.end(), position) != out.order.end()) {
          return {.order = {}, .ended = fill("{} names a device a second time", quote(entry))};
        }
        out.order.push_back(position);
      }
    }
    return out;
  }

 private:
  std::vector<size_t> by_index(std::string_view entry) {
    const int64_t index = leading_number(entry);
    why_ = fill("no device of {}", gpus_.size());
    const bool known = index >= 0 && static_cast<uint64_t>(index) < gpus_.size();
    return known ? gpus_[static_cast<size_t>(index)] : std::vector<size_t>{};
  }

  std::vector<size_t> by_id(std::string_view entry, std::string_view kind) {
    why_ = "no device";
    if (!entry.starts_with(kind)) {
      return {};
    }
    std::vector<std::vector<size_t>> found;
    if (kind == kGpu) {
      for (const std::vector<size_t>& gpu : gpus_) {
        if (physical(devices_[gpu.front()]).starts_with(entry)) {
          found.push_back(gpu);
        }
      }
    } else {
      for (const size_t i : all().order) {
        const bool by_uuid = devices_[i].facts.uuid.value_or("").starts_with(entry);
        if (is_instance(devices_[i]) && (by_uuid || old_mig_id(devices_[i]) == entry)) {
          found.push_back({i});
        }
      }
    }
    if (found.size() > 1) {
      why_ = fill("{} devices", found.size());
    }
    return found.size() == 1 ? found.front() : std::vector<size_t>{};
  }

  std::span<const NvmlDevice> devices_;
  std::vector<std::vector<size_t>> gpus_;
  std::string why_;
};

}  // namespace

VisibleDevices resolve_visible_devices(const std::optional<std::string>& variable,
                                       std::span<const NvmlDevice> devices) {
  Resolver resolver(devices);
  VisibleDevices out = variable ? resolver.resolve(*variable) : resolver.all();
  const auto instance = std::find_if(out.order.begin(), out.order.end(),
                                     [&](size_t i) { return is_instance(devices[i]); });
  if (instance != out.order.end()) {
    out.order = {*instance};
  }
  return out;
}

bool names_devices_by_id(const std::optional<std::string>& variable) {
  return variable && (variable->starts_with(kGpu) || variable->starts_with(kMig));
}

}  // namespace libtrain
