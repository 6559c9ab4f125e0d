#pragma once

#include "libtrain/core/api.hpp"
#include "libtrain/facts/model.hpp"

namespace torch::nn {
class Module;
}

namespace libtrain {

/// What a plan needs to know of `module`: sizes, and which kinds of layers it holds.
LT_API ModelFacts describe_model(const torch::nn::Module& module);

}  // namespace libtrain
