#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

namespace libtrain::sim {

/// Runs an operator that the device has no kernel of its own for: the CPU's kernel, on the same
/// memory, booked on the current stream of the arguments' device.
/// @throws DeviceError where arguments lie on different devices, Unsupported where the CPU has no
/// kernel either; both name the operator.
void run_on_cpu(const c10::OperatorHandle& op, torch::jit::Stack* stack);

/// The same with another operator's kernel, which takes the arguments that are on the stack; `name`
/// is what the books call it.
void run_on_cpu_as(const c10::OperatorHandle& op, std::string_view name, torch::jit::Stack* stack);

}  // namespace libtrain::sim
