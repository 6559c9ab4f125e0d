#pragma once

#include <torch/csrc/utils/pybind.h>

#include "bindings/parameters.hpp"
#include "libtrain/runtime/updatable.hpp"

namespace fasttrain {

/// Any torch.optim.Optimizer where the library expects one of its own: a step is the Python
/// object's own step(), hooks and all. Lives, moves and dies under the GIL.
class PythonOptimizer final : public libtrain::Updatable {
 public:
  /// `apply(found_inf or None)` takes the step and returns what it returns.
  PythonOptimizer(const NamedGroups& groups, pybind11::function apply);

  const libtrain::Parameters& parameters() const override { return parameters_; }
  libtrain::StepOutcome step() override;
  void update(const libtrain::HostUpdate& numbers) override;
  void update(const libtrain::DeviceUpdate& numbers) override;

  /// What the last step returned; None where there was none.
  pybind11::object take_result();

 private:
  libtrain::Parameters parameters_;
  pybind11::function apply_;
  pybind11::object result_;
};

}  // namespace fasttrain
