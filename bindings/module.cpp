// fasttrain._native: libtrain for the Python package beside it, which is what users import.

#include "bindings/register.hpp"

PYBIND11_MODULE(_native, module) {
  fasttrain::register_errors(module);
  fasttrain::register_plan(module);
  fasttrain::register_runtime(module);
  fasttrain::register_optim(module);
  fasttrain::register_amp(module);
  fasttrain::register_nn(module);
  fasttrain::register_state(module);
  fasttrain::register_values(module);
  fasttrain::register_train(module);
}
