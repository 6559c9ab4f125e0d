#pragma once

#include <torch/csrc/utils/pybind.h>

namespace fasttrain {

/// The GIL, for every file here: what computes, waits or may run autograd is bound with
/// `ReleaseGil`, or releases the GIL itself once its arguments are read (autograd refuses to run
/// under it). What calls back into Python takes it again: the warning hook, PythonOptimizer, loss
/// functions. Nothing holds a py::object where it could be destroyed without it.
using ReleaseGil = pybind11::call_guard<pybind11::gil_scoped_release>;

/// One function for each area; module.cpp calls them.
void register_errors(pybind11::module_& module);
void register_plan(pybind11::module_& module);
void register_runtime(pybind11::module_& module);
void register_optim(pybind11::module_& module);
void register_amp(pybind11::module_& module);
void register_nn(pybind11::module_& module);
void register_state(pybind11::module_& module);
void register_train(pybind11::module_& module);
void register_values(pybind11::module_& module);

}  // namespace fasttrain
