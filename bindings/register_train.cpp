// The training step with Python loss functions.

#include <pybind11/stl.h>
#include <torch/csrc/autograd/python_variable.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings/register.hpp"
#include "libtrain/core/require.hpp"
#include "libtrain/train/trainer.hpp"

namespace fasttrain {
namespace {

namespace lt = libtrain;
namespace py = pybind11;

/// `loss` is called with the tensors of a micro-batch, in the order of `fields`.
lt::StepReport step(lt::Trainer& trainer, const lt::Batch::Fields& fields, const py::function& loss,
                    std::optional<std::vector<double>> weights) {
  lt::Batch batch = lt::Batch::stacked(fields);
  if (weights) {
    batch.set_weights(std::move(*weights));
  }
  const auto call = [&](const lt::Batch& part) {
    const py::gil_scoped_acquire gil;
    std::vector<at::Tensor> tensors;
    for (const auto& [name, tensor] : fields) {
      tensors.push_back(part.at(name));
    }
    const py::object value = loss(tensors);
    if (!THPVariable_Check(value.ptr())) {
      throw lt::InvalidOption(
          lt::fill("[trainer.step] the loss function returned {}, expected a tensor",
                   lt::quote(py::str(py::type::of(value)).cast<std::string>())));
    }
    return value.cast<at::Tensor>();
  };
  const py::gil_scoped_release release;
  return trainer.step(batch, call);
}

}  // namespace

void register_train(py::module_& module) {
  py::class_<lt::Trainer>(module, "Trainer")
      .def(py::init([](const lt::Runtime& runtime, lt::Optimizer& optimizer,
                       std::optional<double> clip_norm, const lt::Schedule& schedule,
                       std::optional<int64_t> max_skips_in_row) {
             return std::make_unique<lt::Trainer>(
                 runtime, optimizer,
                 lt::TrainerOptions{
                     .clip_norm = clip_norm,
                     .schedule = schedule,
                     .max_skips_in_row = max_skips_in_row.value_or(lt::kMaxSkipsInRow)});
           }),
           py::arg("runtime"), py::arg("optimizer"), py::arg("clip_norm"), py::arg("schedule"),
           py::arg("max_skips_in_row"), py::keep_alive<1, 2>(), py::keep_alive<1, 3>())
      .def("step", step, py::arg("fields"), py::arg("loss"), py::arg("weights"))
      .def("values", &lt::Trainer::values, py::arg("report"), ReleaseGil())
      .def_property_readonly("steps", &lt::Trainer::steps)
      .def("applied_steps", &lt::Trainer::applied_steps, ReleaseGil());
}

}  // namespace fasttrain
