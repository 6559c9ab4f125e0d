#pragma once

// The one place that knows how LibTorch 2.11 to 2.15 differ. What drifts is spelled here once; code
// elsewhere uses these names. tests/torch/api_probe.cpp compiles every signature we rely on against
// each supported minor.

#include <ATen/Context.h>

namespace libtrain::compat {

/// Precision of fp32 matrix products and convolutions on CUDA, by the fp32_precision interface
/// only: reading the older allow_tf32 flags after it was used throws from inside operators.
inline at::Float32Precision cuda_fp32_precision(at::Float32Op op) {
  return at::globalContext().float32Precision(at::Float32Backend::CUDA, op);
}

inline void set_cuda_fp32_precision(at::Float32Op op, at::Float32Precision value) {
  at::globalContext().setFloat32Precision(at::Float32Backend::CUDA, op, value);
}

}  // namespace libtrain::compat
