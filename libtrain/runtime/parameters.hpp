#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libtrain/core/api.hpp"

namespace torch::nn {
class Module;
}

namespace libtrain {

/// A trainable tensor and the name it is saved under ("encoder.layer.0.output.dense.weight").
struct Parameter {
  std::string name;
  at::Tensor tensor;
};

/// Options of one group; an empty field takes the optimizer's own value.
struct GroupOptions {
  std::optional<double> lr;
  std::optional<double> weight_decay;
};

struct ParameterGroup {
  std::vector<Parameter> parameters;
  GroupOptions options;
};

/// What optimizers, the trainer and saved states work on: named tensors in groups. A tensor shared
/// under several names stands once, under its first name; `aliases` maps the other names to it.
/// Made from a torch::nn::Module here and from Python's modules by the binding.
struct LT_API Parameters {
  std::vector<ParameterGroup> groups;
  std::map<std::string, std::string> aliases;

  /// All parameters in group order.
  std::vector<Parameter> all() const;
};

struct ParameterGroupOptions {
  /// For weights; biases and norm parameters (one dimension or less) go to a second group with 0,
  /// as in BERT (Devlin et al. 2019, appendix A.2).
  double weight_decay = 0.01;
};

/// Every parameter of the module in one group, frozen ones (requires_grad false) left out.
LT_API Parameters parameters_of(const torch::nn::Module& module);
/// Two groups: with and without weight decay. Frozen parameters are left out.
LT_API Parameters parameter_groups(const torch::nn::Module& module,
                                   const ParameterGroupOptions& options);

}  // namespace libtrain
