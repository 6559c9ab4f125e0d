#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libtrain/core/api.hpp"
#include "libtrain/core/decision.hpp"
#include "libtrain/plan/options.hpp"

namespace libtrain {

enum class DeviceType { kCpu, kCuda };

struct DeviceChoice {
  DeviceType type = DeviceType::kCpu;
  int index = 0;  ///< CUDA index under CUDA_VISIBLE_DEVICES

  friend bool operator==(const DeviceChoice&, const DeviceChoice&) = default;
};

/// The finished plan: every field decided, each with its source and reason.
struct Plan {
  Decision<DeviceChoice> device;
  Decision<PrecisionMode> precision;
  Decision<MatmulPrecision> fp32_matmul;
  Decision<bool> loss_scaling;
  Decision<AttentionKind> attention;
  Decision<OptimizerForm> optimizer;
  Decision<int> threads;
  Decision<AllocatorSetting> allocator;
  Decision<bool> cudnn_benchmark;
  /// Empty until the model is known: the row reads "pending: needs a model".
  std::optional<Decision<MemoryFormat>> memory_format;
  Decision<bool> pinned_memory;         ///< DeviceBatches copies from it
  std::optional<int64_t> global_batch;  ///< empty: each batch given to a step is one update
  std::optional<int64_t> accumulate;    ///< empty: 1

  // For processes to come: `fasttrain env` prints the variables.
  Decision<std::string> arch_list;  ///< TORCH_CUDA_ARCH_LIST; "none": not set
  Decision<NcclSettings> nccl_settings;

  // Decided, and not applied by this build yet.
  Decision<bool> checkpointing;   ///< of activations
  Decision<int64_t> micro_batch;  ///< samples of one forward pass; 0: the batch as given
  Decision<bool> cuda_graph;
  Decision<int> data_workers;
  Decision<int> prefetch;  ///< batches each worker makes ahead
  Decision<NumaChoice> numa_node;
  Decision<ParallelForm> parallelism;
  Decision<CommBackend> backend;
  Decision<int> bucket_mib;  ///< of gradients that are reduced at once

  friend bool operator==(const Plan&, const Plan&) = default;
};

LT_API std::string to_text(const DeviceChoice& value);  ///< "cpu", "cuda:0"
LT_API std::string_view to_text(PrecisionMode value);   ///< "fp32", "tf32", "bf16", "fp16"
LT_API std::string_view to_text(MatmulPrecision value);
LT_API std::string_view to_text(AttentionKind value);
LT_API std::string_view to_text(OptimizerForm value);
LT_API std::string_view to_text(MemoryFormat value);
LT_API std::string_view to_text(AllocatorSetting value);
LT_API std::string_view to_text(ParallelForm value);
LT_API std::string_view to_text(CommBackend value);
LT_API std::string_view to_text(NcclSettings value);
LT_API std::string to_text(const NumaChoice& value);  ///< "unbound", "0"
/// The inverse of to_text; nothing for any other text.
LT_API std::optional<PrecisionMode> parse_precision(std::string_view text);

}  // namespace libtrain
