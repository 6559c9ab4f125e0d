#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "libtrain/core/api.hpp"
#include "libtrain/facts/model.hpp"

namespace torch::nn {
class Module;
}

namespace libtrain {

/// What a plan needs to know of `module`: sizes, and which kinds of layers it holds.
LT_API ModelFacts describe_model(const torch::nn::Module& module);

/// The sizes alone, for a module that is not C++'s; a tensor that stands twice counts once.
LT_API ModelFacts describe_parameters(const std::vector<at::Tensor>& parameters);

}  // namespace libtrain
