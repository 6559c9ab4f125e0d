#include "libtrain/plan/option_table.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <type_traits>
#include <vector>

#include "libtrain/core/require.hpp"
#include "libtrain/facts/compute_capability.hpp"
#include "libtrain/plan/choose_arch_list.hpp"
#include "libtrain/plan/device_request.hpp"
#include "libtrain/plan/enum_names.hpp"
#include "libtrain/plan/nearest_name.hpp"

namespace libtrain {
namespace {

template <auto kField>
using ValueOf = typename std::remove_cvref_t<decltype(PlanOptions{}.*kField)>::value_type;

template <auto kField>
bool read_name(std::string_view text, PlanOptions& into) {
  into.*kField = parse_enum<ValueOf<kField>>(text);
  return (into.*kField).has_value();
}

template <auto kField>
bool read_switch(std::string_view text, PlanOptions& into) {
  into.*kField = parse_bool(text);
  return (into.*kField).has_value();
}

template <auto kField, int64_t kMax = std::numeric_limits<int64_t>::max(), int64_t kMin = 1>
bool read_count(std::string_view text, PlanOptions& into) {
  const std::optional<int64_t> value = parse_integer(text);
  if (!value || *value < kMin || *value > kMax) {
    return false;
  }
  into.*kField = static_cast<ValueOf<kField>>(*value);
  return true;
}

bool read_device(std::string_view text, PlanOptions& into) {
  into.device = std::string(text);
  return parse_device(text).has_value();
}

bool read_numa_node(std::string_view text, PlanOptions& into) {
  const std::optional<int64_t> node = parse_integer(text);
  if (text != kUnbound && (!node || *node < 0 || *node > kLastNumaNode)) {
    return false;
  }
  into.numa_node = node ? NumaChoice{static_cast<int>(*node)} : NumaChoice{};
  return true;
}

/// Integer pairs, so "12" and "sm_12.0" are none; parts are divided as LibTorch divides them.
bool read_arch_list(std::string_view text, PlanOptions& into) {
  into.arch_list = std::string(text);
  const std::vector<std::string_view> parts =
      split(text, text.find(';') == std::string_view::npos ? ' ' : ';');
  return text == kNoArchList || std::ranges::all_of(parts, [](std::string_view part) {
           return !part.empty() && part.front() >= '0' && part.front() <= '9' &&
                  parse_compute_capability(part).has_value();
         });
}

constexpr int kMostPrefetched = 1024;
constexpr int kLargestBucketMib = 65536;

constexpr std::array kTable{
    OptionInfo{"device", "FASTTRAIN_DEVICE", kDeviceNames, "where the model is trained",
               read_device},
    OptionInfo{"precision", "FASTTRAIN_PRECISION", "fp32, tf32, bf16 or fp16",
               "numbers of the forward and backward passes", read_name<&PlanOptions::precision>},
    OptionInfo{"fp32_matmul", "FASTTRAIN_FP32_MATMUL", "ieee or tf32",
               "matrix products of what stays fp32", read_name<&PlanOptions::fp32_matmul>},
    OptionInfo{"loss_scaling", "FASTTRAIN_LOSS_SCALING", "on or off",
               "scaling of the loss against underflow of gradients",
               read_switch<&PlanOptions::loss_scaling>},
    OptionInfo{"attention", "FASTTRAIN_ATTENTION", "short, math, flash, efficient or cudnn",
               "kernel tried first for attention", read_name<&PlanOptions::attention>},
    OptionInfo{"optimizer", "FASTTRAIN_OPTIMIZER", "own_kernel or fused",
               "form of the optimizer's update", read_name<&PlanOptions::optimizer>},
    OptionInfo{"memory_format", "FASTTRAIN_MEMORY_FORMAT", "contiguous or channels_last",
               "layout of images and convolution weights", read_name<&PlanOptions::memory_format>},
    OptionInfo{"cudnn_benchmark", "FASTTRAIN_CUDNN_BENCHMARK", "on or off",
               "trial runs that find the fastest convolution",
               read_switch<&PlanOptions::cudnn_benchmark>},
    OptionInfo{"threads", "FASTTRAIN_THREADS", "1 to 8192", "threads of one operator on the CPU",
               read_count<&PlanOptions::threads, kMaxThreads>},
    OptionInfo{"allocator", "FASTTRAIN_ALLOCATOR",
               "unchanged, glibc_thresholds or expandable_segments",
               "setting of the memory allocator", read_name<&PlanOptions::allocator>},
    OptionInfo{"global_batch", "", "a whole number from 1", "samples per update over all ranks",
               read_count<&PlanOptions::global_batch>},
    OptionInfo{"accumulate", "", "a whole number from 1", "micro-batches per update",
               read_count<&PlanOptions::accumulate>},
    OptionInfo{"arch_list", "FASTTRAIN_ARCH_LIST", "compute capabilities (8.0;9.0+PTX) or none",
               "GPUs that extensions are compiled for", read_arch_list},
    OptionInfo{"nccl_settings", "FASTTRAIN_NCCL_SETTINGS", "unchanged or by_evidence",
               "whether facts set variables of NCCL", read_name<&PlanOptions::nccl_settings>},
    OptionInfo{"checkpointing", "FASTTRAIN_CHECKPOINTING", "on or off",
               "computing activations again instead of keeping them",
               read_switch<&PlanOptions::checkpointing>},
    OptionInfo{"micro_batch", "", "a whole number from 1", "samples of one forward pass",
               read_count<&PlanOptions::micro_batch>},
    OptionInfo{"cuda_graph", "FASTTRAIN_CUDA_GRAPH", "on or off",
               "a step captured once and replayed", read_switch<&PlanOptions::cuda_graph>},
    OptionInfo{"data_workers", "FASTTRAIN_DATA_WORKERS", "0 to 8192",
               "threads that make batches ahead",
               read_count<&PlanOptions::data_workers, kMaxThreads, 0>},
    OptionInfo{"prefetch", "FASTTRAIN_PREFETCH", "0 to 1024", "batches each worker makes ahead",
               read_count<&PlanOptions::prefetch, kMostPrefetched, 0>},
    OptionInfo{"pinned_memory", "FASTTRAIN_PINNED_MEMORY", "on or off",
               "batches in page-locked memory, copied by a stream of their own",
               read_switch<&PlanOptions::pinned_memory>},
    OptionInfo{"numa_node", "FASTTRAIN_NUMA_NODE", "unbound or a node's number",
               "memory node that the process is bound to", read_numa_node},
    OptionInfo{"parallelism", "FASTTRAIN_PARALLELISM", "alone, ddp, zero1, zero2 or zero3",
               "what several ranks share out", read_name<&PlanOptions::parallelism>},
    OptionInfo{"backend", "FASTTRAIN_BACKEND", "none, gloo or nccl", "what processes talk through",
               read_name<&PlanOptions::backend>},
    OptionInfo{"bucket_mib", "FASTTRAIN_BUCKET_MIB", "1 to 65536",
               "MiB of gradients that are reduced at once",
               read_count<&PlanOptions::bucket_mib, kLargestBucketMib>},
};
static_assert(kMaxThreads == 8192, "the table's text names the limit");

}  // namespace

std::span<const OptionInfo> option_table() { return kTable; }

std::string_view variable_of(std::string_view key) {
  return std::ranges::find(kTable, key, &OptionInfo::key)->variable;
}

void set_option(PlanOptions& options, std::string_view key, std::string_view text) {
  const auto* option = std::ranges::find(kTable, key, &OptionInfo::key);
  if (option == kTable.end()) {
    std::vector<std::string_view> keys;
    std::ranges::transform(kTable, std::back_inserter(keys), &OptionInfo::key);
    const std::vector<std::string> names(keys.begin(), keys.end());
    throw InvalidOption(fill("[plan.set] no such option: key={}, expected one of {}{}", quote(key),
                             join(names, ", "), suggestion(key, keys)));
  }
  require(option->read(text, options), "[plan.set] value not allowed: {}={}, expected {}", key,
          quote(text), option->allowed);
}

}  // namespace libtrain
