#pragma once

#include <map>
#include <optional>
#include <string>

namespace libtrain {

/// How this process was started: its place among its peers, and the variables that steer training.
struct LaunchFacts {
  std::optional<std::string>
      launcher;  ///< "torchrun", "openmpi", "pmi", "slurm"; null for one process
  std::optional<int> rank;
  std::optional<int> world_size;
  std::optional<int> local_rank;
  std::optional<int> local_world_size;
  /// Every set variable of the libraries that training runs on (CUDA_*, NCCL_*, TORCH_*, OMP_*,
  /// MALLOC_* and others: probe/launch.cpp) and of the loader, as text.
  std::map<std::string, std::string> variables;
  std::optional<std::string> problem;  ///< variables that contradict each other

  friend bool operator==(const LaunchFacts&, const LaunchFacts&) = default;
};

}  // namespace libtrain
