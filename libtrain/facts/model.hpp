#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libtrain/facts/shape_count.hpp"

namespace libtrain {

/// What the plan needs to know of a model; described by runtime.prepare() or read from a file.
struct ModelFacts {
  std::optional<std::string> name;
  std::optional<int64_t> parameters;  ///< elements, shared tensors once
  std::optional<int64_t> parameter_bytes;
  std::optional<int64_t> trainable;                         ///< elements that take gradients
  std::optional<std::vector<ShapeCount>> parameter_shapes;  ///< all of them, shared tensors once
  /// Weights that inputs are multiplied by, out x in features, as often as a forward pass does.
  std::optional<std::vector<ShapeCount>> gemms;
  /// Weights of convolutions, out x in / groups x kernel sizes, likewise.
  std::optional<std::vector<ShapeCount>> convolutions;
  std::optional<int64_t> activation_bytes;  ///< what one sample keeps for the backward pass
  std::optional<bool> has_convolutions;
  std::optional<bool> has_attention;
  std::optional<bool> static_shapes;  ///< every batch has the shapes of the example

  friend bool operator==(const ModelFacts&, const ModelFacts&) = default;
};

}  // namespace libtrain
