#include "libtrain/sim/fallback.hpp"

#include <ATen/autocast_mode.h>
#include <ATen/core/enum_tag.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <limits>
#include <optional>

#include "libtrain/core/require.hpp"
#include "libtrain/sim/aliases.hpp"
#include "libtrain/sim/arguments.hpp"
#include "libtrain/sim/device.hpp"
#include "libtrain/sim/faults.hpp"
#include "libtrain/sim/generator.hpp"
#include "libtrain/sim/host_operators.hpp"
#include "libtrain/sim/host_waits.hpp"
#include "libtrain/sim/ledger.hpp"
#include "libtrain/sim/memory.hpp"

namespace libtrain::sim {
namespace {

bool is_on_sim(const at::Tensor& tensor) {
  return tensor.defined() && tensor.device().type() == kSim;
}

/// The same value with each tensor exchanged for what `function` makes of it.
template <class Function>
c10::IValue map_tensors(const c10::IValue& value, const Function& function) {
  if (value.isTensor()) {
    return function(value.toTensor());
  }
  if (value.isTensorList()) {
    c10::List<at::Tensor> mapped;
    for_each_tensor(value, [&](const at::Tensor& tensor) { mapped.push_back(function(tensor)); });
    return mapped;
  }
  if (value.isOptionalTensorList()) {
    c10::List<std::optional<at::Tensor>> mapped;
    for (const c10::IValue& element : value.toListRef()) {
      mapped.push_back(element.isTensor() ? std::optional(function(element.toTensor()))
                                          : std::nullopt);
    }
    return mapped;
  }
  return value;
}

/// One call of an operator: its arguments as they came, and what they say.
struct Call {
  const c10::FunctionSchema& schema;
  std::string_view name;
  std::vector<c10::IValue> arguments;

  c10::DeviceIndex device() const;
  std::vector<Use> uses(c10::DeviceIndex device) const;
  bool takes_cpu_indices() const {
    return name == "aten::index" || name.starts_with("aten::index_put") ||
           name == "aten::_index_put_impl_";
  }
  bool waits_for_values(const c10::OperatorHandle& op) const;
};

/// The device of the first tensor, else the one asked for by name.
c10::DeviceIndex Call::device() const {
  std::optional<c10::DeviceIndex> device;
  for (const c10::IValue& argument : arguments) {
    for_each_tensor(argument, [&device](const at::Tensor& tensor) {
      if (!device && is_on_sim(tensor)) {
        device = tensor.device().index();
      }
    });
  }
  for (const c10::IValue& argument : arguments) {
    if (!device && argument.isDevice() && argument.toDevice().type() == kSim) {
      device = argument.toDevice().has_index() ? argument.toDevice().index() : current_device();
    }
  }
  require<Unsupported>(device.has_value(),
                       "[sim.run] {} names no tensor or device of the simulated device", name);
  require_device(*device);
  return *device;
}

/// @throws DeviceError for a tensor elsewhere: as on CUDA, only numbers, and indices, may lie on
/// the CPU.
std::vector<Use> Call::uses(c10::DeviceIndex device) const {
  std::vector<Use> uses;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const c10::Argument& argument = schema.arguments()[i];
    const Touch touch = touch_of(argument);
    for_each_tensor(arguments[i], [&](const at::Tensor& tensor) {
      if (!tensor.defined() ||
          (tensor.device().is_cpu() && (tensor.dim() == 0 || takes_cpu_indices()))) {
        return;
      }
      if (tensor.device() != c10::Device(kSim, device)) {
        throw DeviceError(
            fill("[sim.run] {} is given {} on {} ({} {}), expected sim:{} as its other arguments; "
                 "move it there first",
                 name, argument.name(), tensor.device().str(), c10::toString(tensor.scalar_type()),
                 c10::str(tensor.sizes()), static_cast<int>(device)));
      }
      require<Unsupported>(tensor.has_storage(),
                           "[sim.run] {} is given {} without storage, expected a strided tensor",
                           name, argument.name());
      if (Block* block = device_block(tensor.storage().data_ptr());
          block && touch != Touch::kNone) {
        uses.push_back({block, tensor, touch == Touch::kWrite});
      }
    });
  }
  return uses;
}

/// The result's shape or value is for the host to know: a mask among indices, or the operator's
/// tag.
bool Call::waits_for_values(const c10::OperatorHandle& op) const {
  if (!takes_cpu_indices()) {
    return op.hasTag(at::Tag::dynamic_output_shape) || op.hasTag(at::Tag::data_dependent_output);
  }
  bool waits = false;
  for (const c10::IValue& argument : arguments) {
    if (argument.isOptionalTensorList()) {
      for_each_tensor(argument, [&waits](const at::Tensor& index) {
        waits |= index.defined() && (index.device().is_cpu() || index.scalar_type() == c10::kBool ||
                                     index.scalar_type() == c10::kByte);
      });
    }
  }
  return waits;
}

c10::IValue to_cpu(const c10::IValue& value, const c10::Argument& argument, Aliases& aliases,
                   c10::DeviceIndex device) {
  if (value.isDevice() && value.toDevice().type() == kSim) {
    return c10::Device(c10::kCPU);
  }
  if (value.isGenerator() && value.toGenerator().device().type() == kSim) {
    return value.toGenerator().get<DeviceGenerator>()->for_operator();
  }
  if (value.isNone() && argument.name() == "generator") {
    return default_generator(device).get<DeviceGenerator>()->for_operator();
  }
  return map_tensors(value,
                     [&aliases](const at::Tensor& tensor) { return aliases.to_cpu(tensor); });
}

void call_cpu(const c10::OperatorHandle& op, const Call& call, torch::jit::Stack* stack) {
  const PartsOfBooked parts;
  // The arguments are converted already: nothing within may be cast again.
  const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
  try {
    op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), stack);
  } catch (c10::Error& error) {
    error.add_context(fill("[sim.run] while {} ran on the simulated device", call.name));
    throw;
  }
}

/// What an operator that was made to fail has written.
void make_nan(const Call& call, const std::vector<c10::IValue>& results, Aliases& aliases) {
  const auto fill_nan = [&aliases](const at::Tensor& tensor) {
    if (is_on_sim(tensor) && tensor.is_floating_point()) {
      aliases.to_cpu(tensor).fill_(std::numeric_limits<double>::quiet_NaN());
    }
  };
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    if (touch_of(call.schema.arguments()[i]) == Touch::kWrite) {
      for_each_tensor(call.arguments[i], fill_nan);
    }
  }
  for (const c10::IValue& result : results) {
    for_each_tensor(result, fill_nan);
  }
}

}  // namespace

void run_on_cpu_as(const c10::OperatorHandle& op, std::string_view name, torch::jit::Stack* stack) {
  const c10::FunctionSchema& schema = op.schema();
  const size_t first = stack->size() - schema.arguments().size();
  const auto arguments = stack->begin() + static_cast<int64_t>(first);
  const Call call{
      schema, name, {std::make_move_iterator(arguments), std::make_move_iterator(stack->end())}};
  require<Unsupported>(
      op.hasComputedKernelForDispatchKey(c10::DispatchKey::CPU),
      "[sim.run] {} has no kernel for the CPU, which the simulated device would run", name);

  const c10::DeviceIndex device = call.device();
  const c10::Stream stream = current_stream(device);
  const std::vector<Use> uses = call.uses(device);
  const bool becomes_nan = fault_due(FaultPoint::kOperator, name, device);
  const bool waits = call.waits_for_values(op);
  if (waits) {
    count_host_wait(name, stream);
  }
  Ledger::get().run(name, stream, uses);

  Aliases aliases(name, stream);
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    (*stack)[first + i] = to_cpu(call.arguments[i], schema.arguments()[i], aliases, device);
  }
  call_cpu(op, call, stack);
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    if (touch_of(schema.arguments()[i]) == Touch::kWrite) {
      for_each_tensor(call.arguments[i],
                      [&aliases](const at::Tensor& tensor) { aliases.carry_back(tensor); });
    }
  }
  for (size_t i = first; i < stack->size(); ++i) {
    (*stack)[i] = map_tensors(
        (*stack)[i], [&aliases](const at::Tensor& result) { return aliases.to_sim(result); });
  }
  if (becomes_nan) {
    make_nan(call, {stack->begin() + static_cast<int64_t>(first), stack->end()}, aliases);
  }
  if (waits) {
    Ledger::get().host_knows(stream);
  }
}

void run_on_cpu(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  run_on_cpu_as(op, op.schema().name(), stack);
}

}  // namespace libtrain::sim
