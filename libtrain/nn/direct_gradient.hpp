#pragma once

#include <ATen/core/Tensor.h>

namespace libtrain {

/// Whether the running backward puts gradients into .grad: backward() does, autograd::grad() does
/// not, and create_graph needs the graph.
bool backward_ends_in_grad();

/// Makes `gradient`, of whatever dtype, the gradient of a leaf without the engine, which would cast
/// it. Returns false and does nothing where the engine has more to do: there is a gradient already,
/// or a hook waits for it.
bool leave_gradient(const at::Tensor& leaf, const at::Tensor& gradient);

}  // namespace libtrain
