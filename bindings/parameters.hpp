#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <utility>
#include <vector>

#include "libtrain/runtime/parameters.hpp"

namespace fasttrain {

/// param_groups of a torch.optim.Optimizer: the name and the tensor of each parameter, by group.
using NamedGroups = std::vector<std::vector<std::pair<std::string, at::Tensor>>>;

inline libtrain::Parameters parameters_from(const NamedGroups& groups) {
  libtrain::Parameters parameters;
  for (const auto& group : groups) {
    libtrain::ParameterGroup& out = parameters.groups.emplace_back();
    for (const auto& [name, tensor] : group) {
      out.parameters.push_back({name, tensor});
    }
  }
  return parameters;
}

}  // namespace fasttrain
