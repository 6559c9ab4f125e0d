#include "libtrain/facts/machine.hpp"

#include "libtrain/core/text.hpp"
#include "libtrain/facts/fact_lines.hpp"
#include "libtrain/facts/fields.hpp"

namespace libtrain {
namespace {

/// More than any machine holds, and little enough that a wrong count costs nothing.
constexpr int kMaxGpus = 4096;

std::string gpu_group(size_t index) { return fill("gpu.{}", index); }

}  // namespace

std::string format_machine_facts(const MachineFacts& facts) {
  FactWriter writer;
  visit_groups(facts,
               [&](std::string_view group, const auto& fields) { writer.write(group, fields); });
  if (!facts.gpus.empty()) {
    writer.write_field("gpu.count", std::optional(static_cast<int>(facts.gpus.size())));
  }
  for (size_t i = 0; i < facts.gpus.size(); ++i) {
    writer.write(gpu_group(i), facts.gpus[i]);
  }
  return writer.text();
}

MachineFacts parse_machine_facts(std::string_view text, const std::string& file) {
  FactReader reader(text, file);
  MachineFacts facts;
  visit_groups(facts, [&](std::string_view group, auto& fields) { reader.read(group, fields); });
  facts.gpus.resize(static_cast<size_t>(reader.read_count("gpu.count", kMaxGpus)));
  for (size_t i = 0; i < facts.gpus.size(); ++i) {
    reader.read(gpu_group(i), facts.gpus[i]);
  }
  reader.require_all_read();
  return facts;
}

std::string format_model_facts(const ModelFacts& facts) { return format_group("model", facts); }

ModelFacts parse_model_facts(std::string_view text, const std::string& file) {
  return parse_group<ModelFacts>("model", text, file);
}

}  // namespace libtrain
