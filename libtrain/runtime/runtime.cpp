#include "libtrain/runtime/runtime.hpp"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>
#include <torch/utils.h>

#include <mutex>
#include <utility>

#include "libtrain/core/require.hpp"
#include "libtrain/plan/make_plan.hpp"
#include "libtrain/probe/probe.hpp"
#include "libtrain/runtime/model_facts.hpp"

namespace libtrain {
namespace {

at::Device real_device(const DeviceChoice& choice) {
  return choice.type == DeviceType::kCuda
             ? at::Device(at::kCUDA, static_cast<c10::DeviceIndex>(choice.index))
             : at::Device(at::kCPU);
}

uint64_t seed_process(const std::optional<uint64_t>& asked, at::Device device) {
  if (asked) {
    torch::manual_seed(*asked);
    if (device.is_privateuseone()) {
      at::Generator generator = at::globalContext().defaultGenerator(device);
      const std::lock_guard lock(generator.mutex());
      generator.set_current_seed(*asked);
    }
  }
  return at::detail::getDefaultCPUGenerator().current_seed();
}

/// Convolution weights (four dimensions) in the layout their kernels are fastest with.
void set_channels_last(torch::nn::Module& module) {
  for (at::Tensor& parameter : module.parameters()) {
    if (parameter.dim() == 4) {
      parameter.set_data(parameter.contiguous(at::MemoryFormat::ChannelsLast));
    }
  }
}

}  // namespace

Runtime::Runtime(const PlanOptions& options) : Runtime(options, probe_machine()) {}

Runtime::Runtime(const PlanOptions& options, MachineFacts machine)
    : Runtime(options, std::move(machine), Where::kReal) {}

Runtime Runtime::simulated(const PlanOptions& options, MachineFacts machine) {
  return {options, std::move(machine), Where::kSimulated};
}

Runtime::Runtime(const PlanOptions& options, MachineFacts machine, Where where)
    : options_(options),
      machine_(std::move(machine)),
      plan_(make_plan(options_, machine_)),
      simulation_(where == Where::kSimulated ? std::optional(Simulation(machine_, plan_.device))
                                             : std::nullopt),
      device_(simulation_ ? simulation_->device() : real_device(plan_.device.value)),
      settings_(simulation_ ? SettingsGuard() : apply_settings(plan_)),
      seed_(seed_process(options.seed, device_)) {}

void Runtime::complete(const ModelFacts& model) {
  plan_ = complete_plan(plan_, options_, machine_, model);
}

void Runtime::prepare_module(std::shared_ptr<torch::nn::Module> module) {
  require(module != nullptr, "[runtime.prepare] no module");
  complete(describe_model(*module));
  module->to(device());
  if (plan_.memory_format->value == MemoryFormat::kChannelsLast) {
    set_channels_last(*module);
  }
  module_ = std::move(module);
}

}  // namespace libtrain
