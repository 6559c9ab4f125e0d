#pragma once

#include "libtrain/core/api.hpp"

namespace libtrain {

/// What a gradient may be besides a dense tensor of the parameter's dtype.
struct GradientForms {
  bool rows = false;      ///< sparse over the first dimension, where the other rows are 0
  bool computed = false;  ///< of the dtype it was computed in, bf16 under autocast
};

/// While one lives, backward passes of what this thread's forward passes record may leave such
/// gradients in .grad: whoever reads them is ready. Scopes nest.
class LT_API GradientFormsScope {
 public:
  explicit GradientFormsScope(GradientForms forms);
  ~GradientFormsScope();
  GradientFormsScope(const GradientFormsScope&) = delete;
  GradientFormsScope& operator=(const GradientFormsScope&) = delete;
  GradientFormsScope(GradientFormsScope&&) = delete;
  GradientFormsScope& operator=(GradientFormsScope&&) = delete;

 private:
  GradientForms previous_;
};

/// Of the innermost scope; none outside.
LT_API GradientForms gradient_forms() noexcept;

}  // namespace libtrain
