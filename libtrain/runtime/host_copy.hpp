#pragma once

#include <ATen/core/Tensor.h>

#include "libtrain/core/api.hpp"

namespace libtrain {

/// A tensor of the CPU on its way to `device`, through pinned memory: the host does not wait, and
/// the device's current stream uses it after the copy. On the CPU the tensor itself.
LT_API at::Tensor to_device(const at::Tensor& host, at::Device device);

}  // namespace libtrain
