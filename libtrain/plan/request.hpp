#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "libtrain/core/api.hpp"
#include "libtrain/core/decision.hpp"
#include "libtrain/core/error.hpp"
#include "libtrain/core/text.hpp"
#include "libtrain/plan/options.hpp"

namespace libtrain {

/// What was asked for one option before the machine is looked at, and by whom.
template <class T>
struct Request {
  std::optional<T> value;
  Source source = Source::kDefault;  ///< kAsked or kEnvironment where `value` is set
  std::string origin;                ///< "asked by the program, over FASTTRAIN_PRECISION=fp16"
};

struct Requests {
  Request<std::string> device;
  Request<PrecisionMode> precision;
  Request<MatmulPrecision> fp32_matmul;
  Request<bool> loss_scaling;
  Request<AttentionKind> attention;
  Request<OptimizerForm> optimizer;
  Request<MemoryFormat> memory_format;
  Request<bool> cudnn_benchmark;
  Request<int> threads;
  Request<AllocatorSetting> allocator;
  Request<std::string> arch_list;
  Request<NcclSettings> nccl_settings;
  Request<bool> checkpointing;
  Request<int64_t> micro_batch;
  Request<bool> cuda_graph;
  Request<int> data_workers;
  Request<int> prefetch;
  Request<bool> pinned_memory;
  Request<NumaChoice> numa_node;
  Request<ParallelForm> parallelism;
  Request<CommBackend> backend;
  Request<int> bucket_mib;
};

/// Code over environment, both named where they differ. Throws as read_environment() does.
LT_API Requests merge_requests(const PlanOptions& asked,
                               const std::map<std::string, std::string>& variables);

/// The request as a decision; `remark`, where there is one, tells what it costs.
template <class T>
Decision<T> grant(const Request<T>& request, std::string_view remark = {}) {
  return {*request.value, request.source,
          remark.empty() ? request.origin : fill("{}: {}", request.origin, remark)};
}

/// The request as a decision that this build only writes down.
template <class T>
Decision<T> grant_later(const Request<T>& request) {
  return grant(request, "this build does not apply it yet");
}

/// Throws Unsupported: the request is meaningful, but `why` it cannot be served here.
[[noreturn]] LT_API void refuse(std::string_view key, std::string_view value,
                                const std::string& origin, const std::string& why,
                                std::string_view way_out);

}  // namespace libtrain
