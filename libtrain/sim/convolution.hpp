#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

namespace libtrain::sim {

/// LibTorch gives a PrivateUse1 backend's convolutions to operators of their own, which the CPU
/// does not have: these run its general ones.
void convolution(const c10::OperatorHandle& op, torch::jit::Stack* stack);
void convolution_backward(const c10::OperatorHandle& op, torch::jit::Stack* stack);

}  // namespace libtrain::sim
