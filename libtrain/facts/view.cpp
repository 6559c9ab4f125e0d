#include "libtrain/facts/view.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "libtrain/core/text.hpp"
#include "libtrain/facts/fields.hpp"
#include "libtrain/facts/gpu_peaks.hpp"
#include "libtrain/facts/value_text.hpp"

namespace libtrain {
namespace {

using Json = nlohmann::ordered_json;

/// What it means that a fact is absent, where that is known.
std::string_view absent(std::string_view name) {
  if (name == "quota_cpus" || name == "memory_limit_bytes") {
    return "no limit";
  }
  if (name == "visible_devices") {
    return "not set";
  }
  if (name == "cuda_index") {
    return "hidden";
  }
  constexpr std::array<std::string_view, 18> kNone = {"date",
                                                      "problem",
                                                      "performance_cores",
                                                      "mig_profile",
                                                      "launcher",
                                                      "rank",
                                                      "world_size",
                                                      "local_rank",
                                                      "local_world_size",
                                                      "cuda_version",
                                                      "cudnn_version",
                                                      "nccl_version",
                                                      "cuda_archs",
                                                      "iommu",
                                                      "cuda_runtime_version",
                                                      "cublas_version",
                                                      "container_runtime",
                                                      "cuda_problem"};
  return std::find(kNone.begin(), kNone.end(), name) != kNone.end() ? "none" : "unknown";
}

void visit_peaks(const GpuPeaks& peaks, auto&& visit) {
  visit("fp32 TFLOP/s", peaks.fp32_tflops);
  visit("tf32 TFLOP/s", peaks.tf32_tflops);
  visit("fp16 TFLOP/s", peaks.fp16_tflops);
  visit("bf16 TFLOP/s", peaks.bf16_tflops);
  visit("fp8 TFLOP/s", peaks.fp8_tflops);
  visit("memory GB/s", peaks.memory_gb_per_s);
  visit("NVLink GB/s", peaks.nvlink_gb_per_s);
  visit("PCIe generation", peaks.pcie_generation);
}

class Table {
 public:
  void head(const std::string& title) { text_ += (text_.empty() ? "" : "\n") + title + "\n"; }

  template <class Facts>
  void group(const std::string& title, const Facts& facts) {
    head(title);
    if constexpr (requires { facts.unknown; }) {
      unknown_ = facts.unknown;
    }
    visit_fields(facts, [&](std::string_view name, const auto& field) { row(name, field); });
    unknown_.clear();
  }

  /// The maker's figures, which are no facts of this machine.
  void peaks(const std::optional<GpuPeaks>& peaks) {
    if (!peaks) {
      line("peaks", "unknown");
      return;
    }
    visit_peaks(*peaks, [&](std::string_view name, const auto& value) {
      if (value) {
        line(fill("peak {}", name), to_text(*value));
      }
    });
    line("peaks by", std::string(peaks->source));
  }

  const std::string& text() const { return text_; }

 private:
  template <class T>
  void row(std::string_view name, const std::optional<T>& field) {
    const bool bytes = name.ends_with("_bytes");
    std::string label(bytes ? name.substr(0, name.size() - 6) : name);
    std::replace(label.begin(), label.end(), '_', ' ');
    line(label, field ? shown(*field, bytes) : why_absent(name));
  }

  void row(std::string_view field, const std::map<std::string, std::string>& variables) {
    if (field == "unknown") {
      return;  // told beside each fact
    }
    for (const auto& [name, value] : variables) {
      line(format_name(name), format_value(value));
    }
  }

  void row(std::string_view field, const std::map<std::string, double>& milliseconds) {
    for (const auto& [name, value] : milliseconds) {
      line(fill("{} {}", field, format_name(name)), fill("{} ms", value));
    }
  }

  std::string why_absent(std::string_view name) const {
    const auto why = unknown_.find(std::string(name));
    return why == unknown_.end() ? std::string(absent(name))
                                 : fill("unknown: {}", format_value(why->second));
  }

  template <class T>
  static std::string shown(const T& value, bool bytes) {
    if constexpr (std::is_same_v<T, bool>) {
      return value ? "yes" : "no";
    } else if constexpr (std::is_same_v<T, int64_t>) {
      return value == kUnlimited ? "unlimited" : bytes ? format_bytes(value) : format_value(value);
    } else {
      return format_value(value);
    }
  }

  void line(std::string label, const std::string& value) {
    constexpr size_t kWidth = 22;
    label.resize(std::max(label.size(), kWidth), ' ');
    text_ += fill("  {} {}\n", label, value);
  }

  std::string text_;
  std::map<std::string, std::string> unknown_;  ///< of the group that is being written
};

Json to_json(const ComputeCapability& value) { return to_text(value); }
Json to_json(const auto& value) { return value; }

template <class Facts>
Json json_object(const Facts& facts) {
  Json out = Json::object();
  const auto add = [&]<class T>(std::string_view name, const std::optional<T>& field) {
    out[std::string(name)] = field ? to_json(*field) : Json(nullptr);
  };
  visit_fields(facts, [&](std::string_view name, const auto& field) {
    if constexpr (requires { add(name, field); }) {
      add(name, field);
    } else {
      out[std::string(name)] = field;
    }
  });
  return out;
}

}  // namespace

std::string describe_machine(const MachineFacts& facts) {
  Table table;
  visit_groups(facts, [&](std::string_view name, const auto& group) {
    std::string title(name);
    std::replace(title.begin(), title.end(), '_', ' ');
    table.group(title, group);
  });
  for (size_t i = 0; i < facts.gpus.size(); ++i) {
    table.group(fill("gpu {}", i), facts.gpus[i]);
    table.peaks(gpu_peaks(facts.gpus[i]));
  }
  if (facts.gpus.empty()) {
    table.head("no gpu");
  }
  return table.text();
}

std::string machine_facts_json(const MachineFacts& facts) {
  Json out = Json::object();
  visit_groups(facts, [&](std::string_view name, const auto& group) {
    out[std::string(name)] = json_object(group);
  });
  out["gpu"] = Json::array();
  for (const GpuFacts& gpu : facts.gpus) {
    out["gpu"].push_back(json_object(gpu));
  }
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace libtrain
