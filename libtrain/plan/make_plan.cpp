#include "libtrain/plan/make_plan.hpp"

#include <algorithm>

#include "libtrain/core/require.hpp"
#include "libtrain/plan/choose_allocator.hpp"
#include "libtrain/plan/choose_arch_list.hpp"
#include "libtrain/plan/choose_attention.hpp"
#include "libtrain/plan/choose_backend.hpp"
#include "libtrain/plan/choose_bucket_mib.hpp"
#include "libtrain/plan/choose_checkpointing.hpp"
#include "libtrain/plan/choose_cuda_graph.hpp"
#include "libtrain/plan/choose_cudnn_benchmark.hpp"
#include "libtrain/plan/choose_data_workers.hpp"
#include "libtrain/plan/choose_device.hpp"
#include "libtrain/plan/choose_fp32_matmul.hpp"
#include "libtrain/plan/choose_loss_scaling.hpp"
#include "libtrain/plan/choose_memory_format.hpp"
#include "libtrain/plan/choose_micro_batch.hpp"
#include "libtrain/plan/choose_nccl_settings.hpp"
#include "libtrain/plan/choose_numa_node.hpp"
#include "libtrain/plan/choose_optimizer.hpp"
#include "libtrain/plan/choose_parallelism.hpp"
#include "libtrain/plan/choose_pinned_memory.hpp"
#include "libtrain/plan/choose_precision.hpp"
#include "libtrain/plan/choose_prefetch.hpp"
#include "libtrain/plan/choose_threads.hpp"
#include "libtrain/plan/prefer_measured.hpp"
#include "libtrain/plan/request.hpp"
#include "libtrain/plan/target.hpp"
#include "libtrain/plan/tuning.hpp"

namespace libtrain {
namespace {

int ranks_of(const LaunchFacts& launch) { return std::max(launch.world_size.value_or(1), 1); }

void check_batch(const PlanOptions& asked, const LaunchFacts& launch) {
  const int64_t accumulate = asked.accumulate.value_or(1);
  require(accumulate >= 1, "[plan.batch] out of range: accumulate={}, expected at least 1",
          accumulate);
  if (!asked.global_batch) {
    return;
  }
  const int64_t batch = *asked.global_batch;
  const int64_t ranks = ranks_of(launch);
  require(batch >= 1, "[plan.batch] out of range: global_batch={}, expected at least 1", batch);
  require(batch % ranks == 0,
          "[plan.batch] cannot be shared evenly: global_batch={}, expected a multiple of the {} "
          "ranks",
          batch, ranks);
  require(batch / ranks >= accumulate,
          "[plan.batch] empty micro-batches: accumulate={}, expected at most the {} samples a rank "
          "takes per update (global_batch={}, ranks={})",
          accumulate, batch / ranks, batch, ranks);
}

/// What was measured counts for training on the CPU, and threads for a process that has it alone.
MeasuredFacts usable_measurements(const Target& target, const MachineFacts& machine) {
  if (target.type != DeviceType::kCpu) {
    return {};
  }
  MeasuredFacts measured = machine.measured;
  if (machine.launch.local_world_size.value_or(1) > 1) {
    measured.threads.clear();
  }
  return measured;
}

/// What the size of the model decides, or the lack of a model.
void choose_by_memory(const Requests& requests, const MachineFacts& machine,
                      const ModelFacts& model, Plan& plan) {
  const int ranks = ranks_of(machine.launch);
  const MemoryEstimate memory = estimate_memory(plan.device.value, machine, model);
  plan.parallelism = choose_parallelism(requests.parallelism, memory, ranks);
  const ParallelForm form = plan.parallelism.value;
  plan.checkpointing = choose_checkpointing(requests.checkpointing, memory, form, ranks);
  const auto rank_batch =
      plan.global_batch ? std::optional(*plan.global_batch / ranks) : std::nullopt;
  plan.micro_batch =
      choose_micro_batch(requests.micro_batch, rank_batch, plan.accumulate, memory, form, ranks);
}

/// What needs no model and is not applied yet.
void choose_for_later(const Requests& requests, const MachineFacts& machine, Plan& plan) {
  const DeviceChoice& device = plan.device.value;
  plan.data_workers = choose_data_workers(requests.data_workers, device.type, plan.threads.value);
  plan.prefetch = choose_prefetch(requests.prefetch, plan.data_workers.value);
  plan.numa_node = choose_numa_node(requests.numa_node, device, machine);
  plan.backend = choose_backend(requests.backend, device, machine);
  plan.bucket_mib = choose_bucket_mib(requests.bucket_mib);
}

}  // namespace

Plan make_plan(const PlanOptions& asked, const MachineFacts& machine) {
  const LaunchFacts& launch = machine.launch;
  require(!launch.problem,
          "[plan.launch] launch variables contradict each other: {}; correct or unset them",
          launch.problem.value_or(""));
  check_batch(asked, launch);
  const Requests requests = merge_requests(asked, launch.variables);

  Plan plan;
  plan.device = choose_device(requests.device, machine);
  const Target target = describe_target(plan.device.value, machine);
  const MeasuredFacts measured = usable_measurements(target, machine);
  plan.precision = prefer_measured(choose_precision(requests.precision, target, machine.cpu),
                                   measured.precision, kTunedPrecisions);
  plan.fp32_matmul =
      choose_fp32_matmul(requests.fp32_matmul, plan.precision, target, launch.variables);
  plan.loss_scaling = choose_loss_scaling(requests.loss_scaling, plan.precision.value);
  plan.attention =
      prefer_measured(choose_attention(requests.attention, target, plan.precision.value,
                                       machine.library, launch.variables),
                      measured.attention, kTunedAttention);
  plan.optimizer = prefer_measured(choose_optimizer(requests.optimizer, target.type),
                                   measured.optimizer, kTunedOptimizers);
  plan.threads = choose_threads(requests.threads, machine.cpu, launch);
  plan.threads = prefer_measured(plan.threads, measured.threads,
                                 tuned_threads(plan.threads.value, machine.cpu));
  plan.allocator = choose_allocator(requests.allocator, target.type, machine.host, launch,
                                    asked.allow_process_settings);
  if (asked.allow_process_settings) {
    plan.allocator = prefer_measured(plan.allocator, measured.allocator, kTunedAllocators);
  }
  plan.cudnn_benchmark = choose_cudnn_benchmark(requests.cudnn_benchmark, target.type, {});
  if (requests.memory_format.value) {
    plan.memory_format =
        choose_memory_format(requests.memory_format, target, plan.precision.value, ModelFacts{});
  }
  plan.pinned_memory = choose_pinned_memory(requests.pinned_memory, plan.device.value, machine);
  plan.global_batch = asked.global_batch;
  plan.accumulate = asked.accumulate;
  plan.arch_list = choose_arch_list(requests.arch_list, machine);
  plan.nccl_settings = choose_nccl_settings(requests.nccl_settings, machine);
  choose_for_later(requests, machine, plan);
  plan.cuda_graph =
      choose_cuda_graph(requests.cuda_graph, target.type, plan.backend.value, ModelFacts{});
  choose_by_memory(requests, machine, ModelFacts{}, plan);
  return plan;
}

Plan complete_plan(const Plan& plan, const PlanOptions& asked, const MachineFacts& machine,
                   const ModelFacts& model) {
  const Requests requests = merge_requests(asked, machine.launch.variables);
  const Target target = describe_target(plan.device.value, machine);

  Plan completed = plan;
  completed.memory_format =
      choose_memory_format(requests.memory_format, target, plan.precision.value, model);
  completed.cudnn_benchmark = choose_cudnn_benchmark(requests.cudnn_benchmark, target.type, model);
  completed.cuda_graph =
      choose_cuda_graph(requests.cuda_graph, target.type, plan.backend.value, model);
  choose_by_memory(requests, machine, model, completed);
  return completed;
}

}  // namespace libtrain
