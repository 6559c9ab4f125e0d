#include "libtrain/plan/explain.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "libtrain/core/text.hpp"
#include "libtrain/plan/wrapped_text.hpp"

namespace libtrain {
namespace {

std::string_view to_text(Scope scope) {
  constexpr std::array<std::string_view, 4> kNames{"scoped", "process", "start", "later"};
  return kNames[static_cast<size_t>(scope)];
}

std::string value_text(bool value) { return value ? "on" : "off"; }
template <class T>
std::string value_text(const T& value) {
  return std::string(libtrain::to_text(value));
}

template <class T>
PlanRow row(std::string_view key, const Decision<T>& decision, Scope scope = Scope::kScoped) {
  return {std::string(key), value_text(decision.value), std::string(to_text(decision.source)),
          std::string(to_text(scope)), decision.reason};
}

template <class T>
PlanRow row(std::string_view key, const std::optional<Decision<T>>& decision) {
  if (decision) {
    return row(key, *decision);
  }
  return {std::string(key), "pending: needs a model", "", std::string(to_text(Scope::kScoped)), ""};
}

PlanRow count_row(std::string_view key, const std::optional<int64_t>& asked,
                  std::string_view otherwise, std::string_view why) {
  return asked ? row(key, Decision<int64_t>{*asked, Source::kAsked, "asked by the program"})
               : row(key, Decision<std::string>{std::string(otherwise), Source::kDefault,
                                                std::string(why)});
}

PlanRow micro_batch_row(const Decision<int64_t>& decision) {
  PlanRow out = row("micro_batch", decision, Scope::kLater);
  out.value = decision.value == 0 ? "as given" : out.value;
  return out;
}

}  // namespace

std::vector<PlanRow> plan_rows(const Plan& plan) {
  return {
      row("device", plan.device),
      row("precision", plan.precision),
      row("fp32_matmul", plan.fp32_matmul),
      row("loss_scaling", plan.loss_scaling),
      row("attention", plan.attention),
      row("optimizer", plan.optimizer),
      row("memory_format", plan.memory_format),
      row("cudnn_benchmark", plan.cudnn_benchmark),
      row("threads", plan.threads),
      row("allocator", plan.allocator, Scope::kProcess),
      row("pinned_memory", plan.pinned_memory),
      count_row("global_batch", plan.global_batch, "as given",
                "each batch given to a step is one update"),
      count_row("accumulate", plan.accumulate, "1", "one micro-batch per update"),
      row("arch_list", plan.arch_list, Scope::kStart),
      row("nccl_settings", plan.nccl_settings, Scope::kStart),
      row("checkpointing", plan.checkpointing, Scope::kLater),
      micro_batch_row(plan.micro_batch),
      row("cuda_graph", plan.cuda_graph, Scope::kLater),
      row("data_workers", plan.data_workers, Scope::kLater),
      row("prefetch", plan.prefetch, Scope::kLater),
      row("numa_node", plan.numa_node, Scope::kLater),
      row("parallelism", plan.parallelism, Scope::kLater),
      row("backend", plan.backend, Scope::kLater),
      row("bucket_mib", plan.bucket_mib, Scope::kLater),
  };
}

std::string explain(const Plan& plan, int width) {
  constexpr std::string_view kGap = "  ";
  constexpr size_t kNarrowestReason = 24;
  using Cells = std::array<std::string, 5>;
  std::vector<Cells> table{{"decision", "value", "source", "scope", "reason"}};
  for (PlanRow& r : plan_rows(plan)) {
    table.push_back({std::move(r.key), std::move(r.value), std::move(r.source), std::move(r.scope),
                     std::move(r.reason)});
  }
  std::array<size_t, 4> widths{};
  size_t before_reason = 0;
  for (size_t column = 0; column < widths.size(); ++column) {
    for (const Cells& cells : table) {
      widths[column] = std::max(widths[column], width_of(cells[column]));
    }
    before_reason += widths[column] + kGap.size();
  }
  const auto total = static_cast<size_t>(std::max(width, 0));
  const size_t reason_width = std::max(total - std::min(total, before_reason), kNarrowestReason);

  std::string out;
  for (const Cells& cells : table) {
    std::string line;
    for (size_t column = 0; column < widths.size(); ++column) {
      line.append(padded(cells[column], widths[column])).append(kGap);
    }
    for (const std::string& part : wrapped(cells.back(), reason_width)) {
      line.append(part);
      line.erase(line.find_last_not_of(' ') + 1);
      out.append(line).push_back('\n');
      line.assign(before_reason, ' ');
    }
  }
  return out +
         "\nstart: for processes to come, set by `fasttrain env`\n"
         "later: not applied by this build yet\n";
}

}  // namespace libtrain
