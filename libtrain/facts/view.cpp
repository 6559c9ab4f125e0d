#include "libtrain/facts/view.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "libtrain/core/text.hpp"
#include "libtrain/facts/fields.hpp"
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
  constexpr std::array<std::string_view, 12> kNone = {
      "problem",      "performance_cores", "mig_profile",  "launcher",
      "rank",         "world_size",        "local_rank",   "local_world_size",
      "cuda_version", "cudnn_version",     "nccl_version", "cuda_archs"};
  return std::find(kNone.begin(), kNone.end(), name) != kNone.end() ? "none" : "unknown";
}

class Table {
 public:
  void head(const std::string& title) { text_ += (text_.empty() ? "" : "\n") + title + "\n"; }

  template <class Facts>
  void group(const std::string& title, const Facts& facts) {
    head(title);
    visit_fields(facts, [&](std::string_view name, const auto& field) { row(name, field); });
  }

  const std::string& text() const { return text_; }

 private:
  template <class T>
  void row(std::string_view name, const std::optional<T>& field) {
    const bool bytes = name.ends_with("_bytes");
    std::string label(bytes ? name.substr(0, name.size() - 6) : name);
    std::replace(label.begin(), label.end(), '_', ' ');
    line(label, field ? shown(*field, bytes) : std::string(absent(name)));
  }

  void row(std::string_view /*name*/, const std::map<std::string, std::string>& variables) {
    for (const auto& [name, value] : variables) {
      line(format_name(name), format_value(value));
    }
  }

  template <class T>
  static std::string shown(const T& value, bool bytes) {
    if constexpr (std::is_same_v<T, bool>) {
      return value ? "yes" : "no";
    } else if constexpr (std::is_same_v<T, int64_t>) {
      return bytes ? format_bytes(value) : format_value(value);
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
