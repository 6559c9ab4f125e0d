#pragma once

#include <string>

#include "libtrain/core/api.hpp"
#include "libtrain/state/tensor_file.hpp"

namespace torch::nn {
class Module;
}

namespace libtrain {

/// Parameters and buffers of a module by their full names, frozen ones included; the tensors are
/// the module's own.
LT_API TensorMap state_dict(const torch::nn::Module& module);

/// Copies `tensors` into the module's parameters and buffers. Names and shapes must be the same on
/// both sides; floating-point values are converted to the module's dtype, other dtypes must be
/// equal. Throws BadFile with every difference, `source` as the file, and then has changed nothing.
LT_API void load_state_dict(torch::nn::Module& module, const TensorMap& tensors,
                            const std::string& source);

}  // namespace libtrain
