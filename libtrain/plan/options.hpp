#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace libtrain {

/// Which numbers the forward and backward passes use; weights and optimizer state stay fp32.
enum class PrecisionMode { kFp32, kTf32, kBf16, kFp16 };
enum class MatmulPrecision { kIeee, kTf32 };
enum class AttentionKind {
  kShort,  ///< own CPU kernel on packed sequences
  kMath,   ///< matmul, softmax, matmul
  kFlash,  ///< ATen's backends on CUDA, first choice named
  kEfficient,
  kCudnn,
};
enum class OptimizerForm { kOwnKernel, kFused };
enum class MemoryFormat { kContiguous, kChannelsLast };
enum class AllocatorSetting { kUnchanged, kGlibcThresholds, kExpandableSegments };
/// What each of several ranks keeps whole: all of it, then in turn without the optimizer's state,
/// the gradients and the weights, which are shared out.
enum class ParallelForm { kAlone, kDdp, kZero1, kZero2, kZero3 };
enum class CommBackend { kNone, kGloo, kNccl };
enum class NcclSettings { kUnchanged, kByEvidence };

/// The memory node a process is bound to; empty: none.
struct NumaChoice {
  std::optional<int> node{};

  friend bool operator==(const NumaChoice&, const NumaChoice&) = default;
};

/// What the caller asks for. An empty field leaves the choice to the machine; a decided plan has no
/// empty fields. Each field can also be set by the environment variable named beside it.
struct PlanOptions {
  std::optional<std::string> device{};           ///< "cpu", "cuda", "cuda:1" · FASTTRAIN_DEVICE
  std::optional<PrecisionMode> precision{};      ///< FASTTRAIN_PRECISION
  std::optional<MatmulPrecision> fp32_matmul{};  ///< FASTTRAIN_FP32_MATMUL
  std::optional<bool> loss_scaling{};            ///< FASTTRAIN_LOSS_SCALING
  std::optional<AttentionKind> attention{};      ///< FASTTRAIN_ATTENTION
  std::optional<OptimizerForm> optimizer{};      ///< FASTTRAIN_OPTIMIZER
  std::optional<MemoryFormat> memory_format{};   ///< FASTTRAIN_MEMORY_FORMAT
  std::optional<bool> cudnn_benchmark{};         ///< FASTTRAIN_CUDNN_BENCHMARK
  std::optional<int> threads{};                  ///< FASTTRAIN_THREADS, intra-op
  std::optional<AllocatorSetting> allocator{};   ///< FASTTRAIN_ALLOCATOR
  std::optional<int64_t> global_batch{};         ///< samples per update over all ranks
  std::optional<int64_t> accumulate{};           ///< micro-batches per update
  std::optional<std::string> arch_list{};        ///< "8.0;9.0+PTX", "none" · FASTTRAIN_ARCH_LIST
  std::optional<NcclSettings> nccl_settings{};   ///< FASTTRAIN_NCCL_SETTINGS
  std::optional<bool> checkpointing{};           ///< of activations · FASTTRAIN_CHECKPOINTING
  std::optional<int64_t> micro_batch{};          ///< samples of one forward pass
  std::optional<bool> cuda_graph{};              ///< FASTTRAIN_CUDA_GRAPH
  std::optional<int> data_workers{};             ///< FASTTRAIN_DATA_WORKERS, threads
  std::optional<int> prefetch{};                 ///< FASTTRAIN_PREFETCH, batches a worker
  std::optional<bool> pinned_memory{};           ///< FASTTRAIN_PINNED_MEMORY
  std::optional<NumaChoice> numa_node{};         ///< FASTTRAIN_NUMA_NODE
  std::optional<ParallelForm> parallelism{};     ///< FASTTRAIN_PARALLELISM
  std::optional<CommBackend> backend{};          ///< FASTTRAIN_BACKEND
  std::optional<int> bucket_mib{};               ///< FASTTRAIN_BUCKET_MIB, of gradients
  std::optional<uint64_t> seed{};                ///< of every generator; unset: left as they are
  /// Whether settings that cannot be undone (malloc thresholds, allocator, interop threads) may be
  /// made. Our own programs and C++ users: yes. A host Python process: only when asked.
  bool allow_process_settings = true;
};

}  // namespace libtrain
