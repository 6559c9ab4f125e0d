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

namespace libtrain {

/// The machine, the plan made for it, and the plan applied. One at a time in a process; settings
/// that can be undone are put back when it ends.
class LT_API Runtime {
 public:
  /// Probes this machine, plans, applies. Throws InvalidOption and Unsupported as make_plan() does.
  explicit Runtime(const PlanOptions& options = {});
  /// The same for facts that were recorded or made up.
  Runtime(const PlanOptions& options, MachineFacts machine);

  const Plan& plan() const noexcept { return plan_; }
  const MachineFacts& machine() const noexcept { return machine_; }
  at::Device device() const;
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
  void prepare_module(std::shared_ptr<torch::nn::Module> module);

  PlanOptions options_;
  MachineFacts machine_;
  Plan plan_;
  SettingsGuard settings_;
  uint64_t seed_;
  std::shared_ptr<torch::nn::Module> module_;
};

}  // namespace libtrain
