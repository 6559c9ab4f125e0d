#pragma once

#include "libtrain/core/api.hpp"
#include "libtrain/facts/model.hpp"
#include "libtrain/plan/plan.hpp"
#include "libtrain/plan/request.hpp"

namespace libtrain {

/// Whether a step is captured once and replayed. On for static shapes on CUDA, where nothing in the
/// step waits for the host; off until a model says so (PyTorch, CUDA semantics, "CUDA Graphs":
/// shapes, addresses and the order of kernels must not change, and a capture may not wait).
///
/// Throws Unsupported for a graph on the CPU, of a model whose shapes vary, and over Gloo, whose
/// reductions wait on the host.
LT_API Decision<bool> choose_cuda_graph(const Request<bool>& asked, DeviceType device,
                                        CommBackend backend, const ModelFacts& model);

}  // namespace libtrain
