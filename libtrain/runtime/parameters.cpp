#include "libtrain/runtime/parameters.hpp"

#include <torch/nn/module.h>

#include <unordered_map>

#include "libtrain/core/require.hpp"

namespace libtrain {
namespace {

/// Calls `take` once for each trainable tensor; other names of the same tensor become aliases.
template <class Take>
std::map<std::string, std::string> for_each_trainable(const torch::nn::Module& module,
                                                      Take&& take) {
  std::map<std::string, std::string> aliases;
  std::unordered_map<const c10::TensorImpl*, std::string> seen;
  for (const auto& item : module.named_parameters()) {
    if (!item.value().requires_grad()) {
      continue;
    }
    const auto [first, is_new] = seen.emplace(item.value().unsafeGetTensorImpl(), item.key());
    if (is_new) {
      take(Parameter{item.key(), item.value()});
    } else {
      aliases.emplace(item.key(), first->second);
    }
  }
  return aliases;
}

}  // namespace

std::vector<Parameter> Parameters::all() const {
  std::vector<Parameter> out;
  for (const ParameterGroup& group : groups) {
    out.insert(out.end(), group.parameters.begin(), group.parameters.end());
  }
  return out;
}

Parameters parameters_of(const torch::nn::Module& module) {
  ParameterGroup group;
  auto aliases = for_each_trainable(
      module, [&](Parameter parameter) { group.parameters.push_back(std::move(parameter)); });
  return {{std::move(group)}, std::move(aliases)};
}

Parameters parameter_groups(const torch::nn::Module& module, const ParameterGroupOptions& options) {
  require(options.weight_decay >= 0.0, "[parameters.group] weight_decay={}, expected >= 0",
          options.weight_decay);
  ParameterGroup decayed;
  ParameterGroup plain;
  decayed.options.weight_decay = options.weight_decay;
  plain.options.weight_decay = 0.0;
  auto aliases = for_each_trainable(module, [&](Parameter parameter) {
    ParameterGroup& group = parameter.tensor.dim() > 1 ? decayed : plain;
    group.parameters.push_back(std::move(parameter));
  });
  Parameters out{{}, std::move(aliases)};
  for (ParameterGroup* group : {&decayed, &plain}) {
    if (!group->parameters.empty()) {
      out.groups.push_back(std::move(*group));
    }
  }
  return out;
}

}  // namespace libtrain
