#pragma once

#include <c10/core/Device.h>
#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>

#include "libtrain/core/api.hpp"
#include "libtrain/facts/machine.hpp"
#include "libtrain/plan/options.hpp"
#include "libtrain/plan/plan.hpp"
#include "libtrain/runtime/batch.hpp"
#include "libtrain/runtime/eval_scope.hpp"
#include "libtrain/runtime/settings.hpp"
#include "libtrain/runtime/simulation.hpp"

namespace libtrain {

/// The machine, the plan made for it, and the plan applied. One at a time in a process; settings
/// that can be undone are put back when it ends.
class LT_API Runtime {
 public:
  /// Probes this machine, plans, applies. Throws InvalidOption and Unsupported as make_plan() does.
  explicit Runtime(const PlanOptions& options = {});
  /// The same for facts that were recorded or made up.
  Runtime(const PlanOptions& options, MachineFacts machine);
  /// The same for a recorded machine with GPUs, on simulated ones: everything runs here, on host
  /// memory, and simulation() tells what a real device would have made of it. This process keeps
  /// its own threads and allocator. Throws Unsupported when the machine's plan is the CPU's.
  static Runtime simulated(const PlanOptions& options, MachineFacts machine);

  const Plan& plan() const noexcept { return plan_; }
  const MachineFacts& machine() const noexcept { return machine_; }
  at::Device device() const noexcept { return device_; }
  /// Null on a real device.
  const Simulation* simulation() const noexcept { return simulation_ ? &*simulation_ : nullptr; }
  /// What random numbers of the training steps start from: the asked seed, else that of ATen's
  /// default generator.
  uint64_t seed() const noexcept { return seed_; }

  /// Completes the plan for this module and puts it on the device in the planned memory format. The
  /// module is changed in place and returned. Make optimizers afterwards.
  template <class Module>
  std::shared_ptr<Module> prepare(std::shared_ptr<Module> module) {
    prepare_module(module);
    return module;
  }
  template <class Holder>
  requires std::derived_from<Holder, torch::nn::ModuleHolder<typename Holder::ContainedType>> Holder
  prepare(Holder module) {
    prepare_module(module.ptr());
    return module;
  }

  /// Completes the plan for a model that prepare() does not take, as a module of Python's; moving
  /// it to the device in the planned memory format is the caller's.
  void complete(const ModelFacts& model);

  /// Puts settings back now instead of when the runtime ends; the plan stays readable.
  void restore_settings() { settings_ = {}; }

  /// Evaluation mode for the prepared module until the returned scope ends.
  [[nodiscard]] EvalScope eval() const { return EvalScope(module_); }

 private:
  enum class Where { kReal, kSimulated };
  Runtime(const PlanOptions& options, MachineFacts machine, Where where);

  void prepare_module(std::shared_ptr<torch::nn::Module> module);

  PlanOptions options_;
  MachineFacts machine_;
  Plan plan_;
  std::optional<Simulation> simulation_;
  at::Device device_;
  SettingsGuard settings_;
  uint64_t seed_;
  std::shared_ptr<torch::nn::Module> module_;
};

}  // namespace libtrain
