// The optimizers under fasttrain/_optim.py, and gradient clipping.

#include <pybind11/stl.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings/parameters.hpp"
#include "bindings/register.hpp"
#include "libtrain/optim/adamw.hpp"
#include "libtrain/optim/clip.hpp"
#include "libtrain/optim/sgd.hpp"

namespace fasttrain {
namespace {

namespace lt = libtrain;
namespace py = pybind11;

/// What torch.amp.GradScaler leaves on an optimizer that can read it: gradients still multiplied by
/// `grad_scale` (unless it is None), and whether one of them is not finite. Only the CPU waits.
void step_scaled(lt::Optimizer& optimizer, const at::Tensor& found_inf,
                 const std::optional<at::Tensor>& grad_scale) {
  if (!found_inf.is_cpu()) {
    optimizer.update(lt::DeviceUpdate{.grad_divisor = grad_scale.value_or(at::Tensor()),
                                      .found_inf = found_inf});
  } else if (found_inf.item<double>() == 0.0) {
    const double scale = grad_scale ? grad_scale->item<double>() : 1.0;
    optimizer.update(lt::HostUpdate{.grad_multiplier = 1.0 / scale});
  }
}

at::Tensor clip_grad_norm(const std::vector<at::Tensor>& parameters, double max_norm,
                          double norm_type, bool error_if_nonfinite) {
  return lt::clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite);
}

}  // namespace

void register_optim(py::module_& module) {
  py::class_<lt::Optimizer>(module, "Optimizer")
      .def(
          "step", [](lt::Optimizer& optimizer) { optimizer.step(); }, ReleaseGil())
      .def("step_scaled", step_scaled, py::arg("found_inf"), py::arg("grad_scale"), ReleaseGil())
      .def("set_skip_non_finite", &lt::Optimizer::set_skip_non_finite, py::arg("skip"))
      .def("state_count", &lt::Optimizer::state_count)
      .def("state", &lt::Optimizer::state, py::arg("parameter"))
      .def("load_state_dict", &lt::Optimizer::load_state_dict, py::arg("state"));

  py::class_<lt::AdamW, lt::Optimizer>(module, "AdamW")
      .def(py::init([](const NamedGroups& groups, bool amsgrad) {
             return std::make_unique<lt::AdamW>(parameters_from(groups),
                                                lt::AdamWOptions{.amsgrad = amsgrad});
           }),
           py::arg("groups"), py::arg("amsgrad"))
      .def(
          "set_options",
          [](lt::AdamW& optimizer, size_t group, double lr, std::pair<double, double> betas,
             double eps, double weight_decay, bool amsgrad, bool maximize) {
            optimizer.set_options(
                group, {lr, betas.first, betas.second, eps, weight_decay, amsgrad, maximize});
          },
          py::arg("group"), py::arg("lr"), py::arg("betas"), py::arg("eps"),
          py::arg("weight_decay"), py::arg("amsgrad"), py::arg("maximize"));

  py::class_<lt::SGD, lt::Optimizer>(module, "SGD")
      .def(py::init([](const NamedGroups& groups, double momentum) {
             return std::make_unique<lt::SGD>(parameters_from(groups),
                                              lt::SGDOptions{.momentum = momentum});
           }),
           py::arg("groups"), py::arg("momentum"))
      .def(
          "set_options",
          [](lt::SGD& optimizer, size_t group, double lr, double momentum, double dampening,
             double weight_decay, bool nesterov, bool maximize) {
            optimizer.set_options(group,
                                  {lr, momentum, dampening, weight_decay, nesterov, maximize});
          },
          py::arg("group"), py::arg("lr"), py::arg("momentum"), py::arg("dampening"),
          py::arg("weight_decay"), py::arg("nesterov"), py::arg("maximize"));

  module.def("clip_grad_norm_", clip_grad_norm, py::arg("parameters"), py::arg("max_norm"),
             py::arg("norm_type"), py::arg("error_if_nonfinite"), ReleaseGil());
}

}  // namespace fasttrain
