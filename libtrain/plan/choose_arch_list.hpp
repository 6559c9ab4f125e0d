#pragma once

#include <string>
#include <string_view>

#include "libtrain/core/api.hpp"
#include "libtrain/facts/machine.hpp"
#include "libtrain/plan/request.hpp"

namespace libtrain {

inline constexpr std::string_view kNoArchList = "none";

/// TORCH_CUDA_ARCH_LIST for extensions that are compiled on this machine: each visible GPU's
/// compute capability once, oldest first, PTX for the newest so that a newer GPU can run it too
/// (torch/utils/cpp_extension.py); "none" without a CUDA build or a GPU whose capability is known.
LT_API Decision<std::string> choose_arch_list(const Request<std::string>& asked,
                                              const MachineFacts& machine);

}  // namespace libtrain
