#include "libtrain/plan/choose_arch_list.hpp"

#include <set>
#include <vector>

namespace libtrain {
namespace {

std::set<ComputeCapability> visible_capabilities(const MachineFacts& machine) {
  std::set<ComputeCapability> out;
  for (const GpuFacts& gpu : machine.gpus) {
    if (gpu.cuda_index && gpu.compute_capability) {
      out.insert(*gpu.compute_capability);
    }
  }
  return out;
}

}  // namespace

Decision<std::string> choose_arch_list(const Request<std::string>& asked,
                                       const MachineFacts& machine) {
  if (asked.value) {
    return grant(asked);
  }
  const std::set<ComputeCapability> capabilities = visible_capabilities(machine);
  const std::string none(kNoArchList);
  if (!machine.library.cuda_version) {
    return {none, Source::kFacts, "this build has no CUDA"};
  }
  if (capabilities.empty()) {
    return {none, Source::kFacts, "no visible GPU whose compute capability is known"};
  }
  std::vector<std::string> list;
  list.reserve(capabilities.size());
  for (const ComputeCapability capability : capabilities) {
    list.push_back(to_text(capability));
  }
  list.back() += "+PTX";
  return {join(list, ";"), Source::kFacts, "extensions are compiled for the GPUs here"};
}

}  // namespace libtrain
