#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libtrain/core/api.hpp"

namespace libtrain {

/// Names the part of the model this thread runs in, for messages and reports; scopes nest, names
/// are full ("encoder.layer.3"). The text must outlive the scope.
class LT_API RegionScope {
 public:
  explicit RegionScope(std::string_view name);
  ~RegionScope();
  RegionScope(const RegionScope&) = delete;
  RegionScope& operator=(const RegionScope&) = delete;
  RegionScope(RegionScope&&) = delete;
  RegionScope& operator=(RegionScope&&) = delete;

 private:
  std::string_view previous_;
};

/// The innermost region of this thread, empty outside any.
LT_API std::string_view current_region();

/// Marks `fn(inputs)` as one block of the model, the unit a plan may recompute, gather or time. Now
/// a plain call.
template <class Fn>
auto region(std::string_view name, const std::vector<at::Tensor>& inputs, Fn&& fn) {
  const RegionScope scope(name);
  return std::forward<Fn>(fn)(inputs);
}

}  // namespace libtrain
