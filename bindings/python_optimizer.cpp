#include "bindings/python_optimizer.hpp"

#include <utility>

namespace fasttrain {

namespace lt = libtrain;
namespace py = pybind11;

PythonOptimizer::PythonOptimizer(const NamedGroups& groups, py::function apply)
    : parameters_(parameters_from(groups)), apply_(std::move(apply)), result_(py::none()) {}

lt::StepOutcome PythonOptimizer::step() {
  update(lt::HostUpdate{});
  return lt::StepOutcome::kApplied;
}

void PythonOptimizer::update(const lt::HostUpdate& /*numbers*/) { result_ = apply_(py::none()); }

void PythonOptimizer::update(const lt::DeviceUpdate& numbers) {
  result_ = apply_(numbers.found_inf);
}

py::object PythonOptimizer::take_result() { return std::exchange(result_, py::none()); }

}  // namespace fasttrain
