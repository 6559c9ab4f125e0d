#pragma once

#include <optional>
#include <string>
#include <vector>

namespace libtrain {

/// The LibTorch this build is for, recorded when it was configured, and what this process has
/// loaded. Empty fields are unknown.
struct LibraryFacts {
  std::optional<std::string> libtrain_version;
  std::optional<std::string> torch_version;            ///< "2.15.0+cu132"
  std::optional<std::string> cuda_version;             ///< of the torch build; null for a CPU build
  std::optional<std::string> cuda_runtime_version;     ///< of the package torch runs on: "13.2.86"
  std::optional<std::string> cublas_version;           ///< "13.4.1.3"
  std::optional<std::string> cudnn_version;            ///< "9.26.0"
  std::optional<std::string> nccl_version;             ///< "2.30.7"
  std::optional<bool> gloo;                            ///< torch was built with it
  std::optional<std::vector<std::string>> cuda_archs;  ///< compiled targets: "sm_80", "compute_90"
  std::optional<std::vector<std::string>> loaded;      ///< files of NCCL and cuDNN in this process

  friend bool operator==(const LibraryFacts&, const LibraryFacts&) = default;
};

}  // namespace libtrain
