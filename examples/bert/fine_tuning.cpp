#include "examples/bert/fine_tuning.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "libtrain/core/require.hpp"

namespace bert {
namespace {

using libtrain::quote;
using libtrain::require;

/// Layers between a parameter and the classifier: 0 for pooler and classifier, the number of layers
/// + 1 for the embeddings.
int64_t depth_of(std::string_view name, int64_t layers) {
  constexpr std::string_view kLayer = "bert.encoder.layer.";
  if (name.starts_with("bert.embeddings.")) {
    return layers + 1;
  }
  if (name.starts_with(kLayer)) {
    const std::string_view rest = name.substr(kLayer.size());
    return layers - libtrain::parse_integer(rest.substr(0, rest.find('.'))).value();
  }
  return 0;
}

}  // namespace

void freeze(Classifier& model, const std::vector<std::string>& patterns) {
  auto parameters = model->named_parameters();
  for (const std::string& pattern : patterns) {
    int64_t fits = 0;
    for (auto& item : parameters) {
      if (::fnmatch(pattern.c_str(), item.key().c_str(), 0) == 0) {
        item.value().set_requires_grad(false);
        ++fits;
      }
    }
    require(fits > 0, "[bert.freeze] --freeze {} fits no parameter, expected names like {}",
            quote(pattern), quote("bert.encoder.layer.0.*"));
  }
  require(std::any_of(parameters.begin(), parameters.end(),
                      [](const auto& item) { return item.value().requires_grad(); }),
          "[bert.freeze] --freeze leaves nothing to train; name fewer parameters");
}

libtrain::Parameters fine_tuning_groups(const Classifier& model, const TrainBertOptions& options) {
  const int64_t layers = model->config().num_hidden_layers;
  std::map<std::pair<int64_t, bool>, libtrain::ParameterGroup> groups;
  for (const libtrain::Parameter& parameter : libtrain::parameters_of(*model).all()) {
    const bool decays = parameter.tensor.dim() > 1;
    const int64_t depth = options.layer_decay < 1.0 ? depth_of(parameter.name, layers) : 0;
    libtrain::ParameterGroup& group = groups[{depth, decays}];
    group.options.lr = options.lr * std::pow(options.layer_decay, static_cast<double>(depth));
    group.options.weight_decay = decays ? options.weight_decay : 0.0;
    group.parameters.push_back(parameter);
  }
  libtrain::Parameters out;
  for (auto& [key, group] : groups) {
    out.groups.push_back(std::move(group));
  }
  return out;
}

int64_t total_steps(const TrainBertOptions& options, int64_t batches) {
  constexpr int64_t kDefaultEpochs = 3;
  return options.steps.value_or(options.epochs.value_or(kDefaultEpochs) * batches);
}

libtrain::Schedule schedule_of(const TrainBertOptions& options, int64_t steps) {
  const double warmup =
      options.warmup < 1.0 ? options.warmup * static_cast<double>(steps) : options.warmup;
  const double shortened = std::min(warmup, static_cast<double>(steps));
  return libtrain::linear_warmup(static_cast<int64_t>(std::ceil(shortened)), steps);
}

}  // namespace bert
