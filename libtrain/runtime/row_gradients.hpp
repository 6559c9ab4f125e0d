#pragma once

#include "libtrain/core/api.hpp"

namespace libtrain {

/// While one lives, forward passes of this thread may give a gradient as the rows that are not 0 (a
/// sparse tensor with one sparse dimension): whoever reads the gradients is ready for it.
class LT_API RowGradientScope {
 public:
  explicit RowGradientScope(bool wanted);
  ~RowGradientScope();
  RowGradientScope(const RowGradientScope&) = delete;
  RowGradientScope& operator=(const RowGradientScope&) = delete;
  RowGradientScope(RowGradientScope&&) = delete;
  RowGradientScope& operator=(RowGradientScope&&) = delete;

 private:
  bool previous_;
};

LT_API bool row_gradients_wanted() noexcept;

}  // namespace libtrain
