#include "libtrain/plan/choose_cuda_graph.hpp"

namespace libtrain {
namespace {

/// Why a step cannot be captured; empty when nothing is known to speak against it.
std::string obstacle(DeviceType device, CommBackend backend, const ModelFacts& model) {
  if (device == DeviceType::kCpu) {
    return "a CPU has no CUDA graphs";
  }
  if (backend == CommBackend::kGloo) {
    return "Gloo's reductions wait on the host";
  }
  return model.static_shapes == false ? "the model's shapes vary: each would need a graph" : "";
}

}  // namespace

Decision<bool> choose_cuda_graph(const Request<bool>& asked, DeviceType device, CommBackend backend,
                                 const ModelFacts& model) {
  const std::string why_not = obstacle(device, backend, model);
  if (asked.value) {
    if (*asked.value && !why_not.empty()) {
      refuse("cuda_graph", "on", asked.origin, why_not, "ask for off");
    }
    return grant_later(asked);
  }
  if (!why_not.empty()) {
    return {false, Source::kFacts, why_not};
  }
  return model.static_shapes
             ? Decision<bool>{true, Source::kFacts, "the shapes of every batch are the same"}
             : Decision<bool>{false, Source::kDefault,
                              "no model has said that its shapes are static"};
}

}  // namespace libtrain
