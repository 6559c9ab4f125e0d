#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "libtrain/core/api.hpp"

namespace libtrain {

/// Tensors of one type and shape, and how many there are of them: "float32 3072x768 x12".
struct ShapeCount {
  std::string dtype;           ///< as PyTorch writes it: "float32", "bfloat16"
  std::vector<int64_t> shape;  ///< empty for a scalar
  int64_t count = 1;

  friend bool operator==(const ShapeCount&, const ShapeCount&) = default;
};

/// Counts `more` among those of the same type and shape.
LT_API void add_to(std::vector<ShapeCount>& tensors, ShapeCount more);

}  // namespace libtrain
