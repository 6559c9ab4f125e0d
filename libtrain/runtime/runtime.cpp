#include "libtrain/runtime/runtime.hpp"

#include <ATen/CPUGeneratorImpl.h>
#include <torch/utils.h>

#include <utility>

#include "libtrain/core/require.hpp"
#include "libtrain/plan/make_plan.hpp"
#include "libtrain/probe/probe.hpp"
#include "libtrain/runtime/model_facts.hpp"

namespace libtrain {
namespace {

uint64_t seed_process(const std::optional<uint64_t>& asked) {
  if (asked) {
    torch::manual_seed(*asked);
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
    : options_(options),
      machine_(std::move(machine)),
      plan_(make_plan(options_, machine_)),
      settings_(apply_settings(plan_)),
      seed_(seed_process(options.seed)) {}

at::Device Runtime::device() const {
  const DeviceChoice& choice = plan_.device.value;
  return choice.type == DeviceType::kCuda
             ? at::Device(at::kCUDA, static_cast<c10::DeviceIndex>(choice.index))
             : at::Device(at::kCPU);
}

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
