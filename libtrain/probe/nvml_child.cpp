#include "libtrain/probe/nvml_child.hpp"

#include <utility>

#include "libtrain/core/error.hpp"
#include "libtrain/core/text.hpp"
#include "libtrain/facts/fact_lines.hpp"
#include "libtrain/probe/child_process.hpp"

namespace libtrain {
namespace {

constexpr int kMaxPieces = 4096;

/// The fields of a listing beside its devices, and of a device beside its facts.
void visit_listing(auto& listing, auto&& visit) {
  visit("driver_version", listing.driver_version);
  visit("driver_cuda_version", listing.driver_cuda_version);
  visit("problem", listing.problem);
}
void visit_device(auto& device, auto&& visit) {
  visit("gpu_instance", device.gpu_instance);
  visit("compute_instance", device.compute_instance);
}

std::string device_key(size_t index, std::string_view name = "") {
  return fill("device.{}{}{}", index, name.empty() ? "" : ".", name);
}

/// Names the GPUs that were not heard of.
void add_silent_gpus(NvmlListing& out, int heard, const std::string& silence) {
  for (int index = heard; index < out.gpus; ++index) {
    NvmlDevice device{.facts = {}, .reachable = false};
    device.facts.nvml_index = index;
    device.facts.problem = index == heard
                               ? fill("the driver {} for this GPU", silence)
                               : fill("not asked: the driver {} for GPU {}", silence, heard);
    out.devices.push_back(std::move(device));
  }
}

}  // namespace

std::string format_nvml_listing(const NvmlListing& listing) {
  FactWriter writer;
  visit_listing(listing,
                [&](const char* name, const auto& field) { writer.write_field(name, field); });
  writer.write_field("gpus", std::optional(listing.gpus));
  writer.write_field("devices", std::optional(static_cast<int>(listing.devices.size())));
  for (size_t i = 0; i < listing.devices.size(); ++i) {
    const NvmlDevice& device = listing.devices[i];
    writer.write(device_key(i), device.facts);
    writer.write_field(device_key(i, "reachable"), std::optional(device.reachable));
    writer.write_field(device_key(i, "parent_uuid"), std::optional(device.parent_uuid));
    visit_device(device, [&](const char* name, const auto& field) {
      writer.write_field(device_key(i, name), field);
    });
  }
  return writer.text();
}

NvmlListing parse_nvml_listing(std::string_view text) {
  FactReader reader(text, "NVML");
  NvmlListing out;
  visit_listing(out, [&](const char* name, auto& field) { reader.read_field(name, field); });
  out.gpus = reader.read_count("gpus", kMaxPieces);
  out.devices.resize(static_cast<size_t>(reader.read_count("devices", kMaxPieces)));
  for (size_t i = 0; i < out.devices.size(); ++i) {
    NvmlDevice& device = out.devices[i];
    std::optional<bool> reachable;
    std::optional<std::string> parent_uuid;
    reader.read(device_key(i), device.facts);
    reader.read_field(device_key(i, "reachable"), reachable);
    reader.read_field(device_key(i, "parent_uuid"), parent_uuid);
    device.reachable = reachable.value_or(false);
    device.parent_uuid = parent_uuid.value_or("");
    visit_device(device, [&](const char* name, auto& field) {
      reader.read_field(device_key(i, name), field);
    });
  }
  reader.require_all_read();
  return out;
}

NvmlListing list_nvml_devices_in_child(const DynamicLibrary& library, NvmlLimits limits) {
  ChildProcess child([&](const ChildProcess::Tell& tell) {
    ask_nvml(library, [&](const NvmlListing& piece) { tell(format_nvml_listing(piece)); });
  });
  NvmlListing out;
  try {
    const std::optional<std::string> start = child.next(limits.start);
    if (!start) {
      out.hangs = child.timed_out();
      out.problem = fill("NVML {}: see dmesg for Xid and NVRM, and reboot if nvidia-smi {} too",
                         child.silence(), out.hangs ? "hangs" : "ends");
      return out;
    }
    out = parse_nvml_listing(*start);
    for (int heard = 0; heard < out.gpus; ++heard) {
      const std::optional<std::string> message = child.next(limits.gpu);
      if (!message) {
        add_silent_gpus(out, heard, child.silence());
        break;
      }
      NvmlListing piece = parse_nvml_listing(*message);
      out.devices.insert(out.devices.end(), piece.devices.begin(), piece.devices.end());
    }
  } catch (const BadFile& error) {
    out.problem = error.what();
  }
  return out;
}

}  // namespace libtrain
