// The gradient scaler under fasttrain/_amp.py.

#include <pybind11/stl.h>

#include <string>

#include "bindings/python_optimizer.hpp"
#include "bindings/register.hpp"
#include "libtrain/amp/grad_scaler.hpp"

namespace fasttrain {
namespace {

namespace lt = libtrain;
namespace py = pybind11;

lt::GradScaler make_scaler(at::Device device, double init_scale, double growth_factor,
                           double backoff_factor, int64_t growth_interval, bool enabled) {
  const lt::LossScaleOptions options{.initial = init_scale,
                                     .growth_factor = growth_factor,
                                     .backoff_factor = backoff_factor,
                                     .growth_interval = growth_interval};
  return lt::GradScaler(device, options, enabled);
}

py::object step(lt::GradScaler& scaler, PythonOptimizer& optimizer) {
  scaler.step(optimizer);
  return optimizer.take_result();
}

}  // namespace

void register_amp(py::module_& module) {
  py::class_<PythonOptimizer>(module, "PythonOptimizer")
      .def(py::init<const NamedGroups&, py::function>(), py::arg("groups"), py::arg("apply"));

  py::class_<lt::GradScaler>(module, "GradScaler")
      .def(py::init(&make_scaler), py::arg("device"), py::arg("init_scale"),
           py::arg("growth_factor"), py::arg("backoff_factor"), py::arg("growth_interval"),
           py::arg("enabled"))
      .def("scale", py::overload_cast<const at::Tensor&>(&lt::GradScaler::scale), py::arg("output"))
      .def(
          "unscale_",
          [](lt::GradScaler& scaler, PythonOptimizer& optimizer) { scaler.unscale_(optimizer); },
          py::arg("optimizer"))
      .def("step", step, py::arg("optimizer"))
      .def("update", [](lt::GradScaler& scaler) { scaler.update(); })
      .def("update", py::overload_cast<double>(&lt::GradScaler::update), py::arg("new_scale"))
      .def("update", py::overload_cast<const at::Tensor&>(&lt::GradScaler::update),
           py::arg("new_scale"))
      .def("is_enabled", &lt::GradScaler::is_enabled)
      .def("get_scale", &lt::GradScaler::get_scale, ReleaseGil())
      .def("get_growth_factor", &lt::GradScaler::get_growth_factor)
      .def("get_backoff_factor", &lt::GradScaler::get_backoff_factor)
      .def("get_growth_interval", &lt::GradScaler::get_growth_interval)
      .def("set_growth_factor", &lt::GradScaler::set_growth_factor, py::arg("new_factor"))
      .def("set_backoff_factor", &lt::GradScaler::set_backoff_factor, py::arg("new_factor"))
      .def("set_growth_interval", &lt::GradScaler::set_growth_interval, py::arg("new_interval"))
      .def("state_dict", &lt::GradScaler::state_dict, ReleaseGil())
      .def("load_state_dict", &lt::GradScaler::load_state_dict, py::arg("state"));
}

}  // namespace fasttrain
