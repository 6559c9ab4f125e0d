#include "libtrain/plan/request.hpp"

#include "libtrain/plan/environment.hpp"
#include "libtrain/plan/option_table.hpp"

namespace libtrain {
namespace {

template <class T>
Request<T> merge(std::string_view key, const std::optional<T>& asked,
                 const std::optional<T>& environment,
                 const std::map<std::string, std::string>& variables) {
  std::string assignment;
  if (environment) {
    const std::string variable(variable_of(key));
    assignment = fill("{}={}", variable, variables.at(variable));
  }
  if (asked && environment && *asked != *environment) {
    return {asked, Source::kAsked, fill("asked by the program, over {}", assignment)};
  }
  if (asked) {
    return {asked, Source::kAsked, "asked by the program"};
  }
  if (environment) {
    return {environment, Source::kEnvironment, assignment};
  }
  return {};
}

}  // namespace

Requests merge_requests(const PlanOptions& asked,
                        const std::map<std::string, std::string>& variables) {
  const PlanOptions set = read_environment(variables);
  const auto pick = [&](std::string_view key, auto field) {
    return merge(key, asked.*field, set.*field, variables);
  };
  return {
      .device = pick("device", &PlanOptions::device),
      .precision = pick("precision", &PlanOptions::precision),
      .fp32_matmul = pick("fp32_matmul", &PlanOptions::fp32_matmul),
      .loss_scaling = pick("loss_scaling", &PlanOptions::loss_scaling),
      .attention = pick("attention", &PlanOptions::attention),
      .optimizer = pick("optimizer", &PlanOptions::optimizer),
      .memory_format = pick("memory_format", &PlanOptions::memory_format),
      .cudnn_benchmark = pick("cudnn_benchmark", &PlanOptions::cudnn_benchmark),
      .threads = pick("threads", &PlanOptions::threads),
      .allocator = pick("allocator", &PlanOptions::allocator),
      .arch_list = pick("arch_list", &PlanOptions::arch_list),
      .nccl_settings = pick("nccl_settings", &PlanOptions::nccl_settings),
      .checkpointing = pick("checkpointing", &PlanOptions::checkpointing),
      .micro_batch = pick("micro_batch", &PlanOptions::micro_batch),
      .cuda_graph = pick("cuda_graph", &PlanOptions::cuda_graph),
      .data_workers = pick("data_workers", &PlanOptions::data_workers),
      .prefetch = pick("prefetch", &PlanOptions::prefetch),
      .pinned_memory = pick("pinned_memory", &PlanOptions::pinned_memory),
      .numa_node = pick("numa_node", &PlanOptions::numa_node),
      .parallelism = pick("parallelism", &PlanOptions::parallelism),
      .backend = pick("backend", &PlanOptions::backend),
      .bucket_mib = pick("bucket_mib", &PlanOptions::bucket_mib),
  };
}

void refuse(std::string_view key, std::string_view value, const std::string& origin,
            const std::string& why, std::string_view way_out) {
  throw Unsupported(fill("[plan.{}] cannot be done here: {}={} ({}), but {}; {}", key, key,
                         quote(value), origin, why, way_out));
}

}  // namespace libtrain
