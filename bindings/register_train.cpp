// The training step with Python loss functions, and learning-rate schedules.

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

void register_schedules(py::module_& module) {
  py::class_<lt::Schedule>(module, "Schedule",
                           "How the learning rate moves: a factor for each applied update.")
      .def("factor", &lt::factor, py::arg("applied_steps"),
           "The factor of the update that follows `applied_steps` applied ones.")
      .def(
          "__eq__", [](const lt::Schedule& a, const lt::Schedule& b) { return a == b; },
          py::is_operator());
  module.def("constant", &lt::constant, py::arg("warmup_steps") = 0, "1 after the warm-up.");
  module.def("linear_warmup", &lt::linear_warmup, py::arg("warmup_steps"), py::arg("total_steps"),
             "Rises in a line over the warm-up, then falls in a line to 0 at total_steps.");
  module.def("cosine", &lt::cosine, py::arg("warmup_steps"), py::arg("total_steps"),
             py::arg("cycles") = 0.5, py::arg("min_ratio") = 0.0,
             "Half a cosine from 1 after the warm-up to min_ratio at total_steps.");
  module.def("inverse_sqrt", &lt::inverse_sqrt, py::arg("warmup_steps"),
             py::arg("timescale") = py::none(),
             "sqrt(timescale / (timescale + steps since the warm-up)).");
  module.def("one_cycle", &lt::one_cycle, py::arg("total_steps"), py::arg("rising_fraction") = 0.3,
             py::arg("div_factor") = 25.0, py::arg("final_div_factor") = 1e4,
             "torch.optim.lr_scheduler.OneCycleLR with the optimizer's rate as max_lr.");
}

void register_reports(py::module_& module) {
  py::class_<lt::StepValues>(module, "StepValues", "What a training step measured.")
      .def_readonly("step", &lt::StepValues::step)
      .def_readonly("applied", &lt::StepValues::applied, "whether the weights moved")
      .def_readonly("loss", &lt::StepValues::loss, "mean over the batch's weight")
      .def_readonly("grad_norm", &lt::StepValues::grad_norm, "L2 norm before clipping")
      .def_readonly("lr_factor", &lt::StepValues::lr_factor)
      .def_readonly("loss_scale", &lt::StepValues::loss_scale)
      .def_readonly("skipped_in_row", &lt::StepValues::skipped_in_row);
  py::class_<lt::StepReport>(module, "StepReport", "What a step returns at once.")
      .def_readonly("step", &lt::StepReport::step)
      .def_readonly("samples", &lt::StepReport::samples)
      .def_readonly("weight", &lt::StepReport::weight)
      .def_readonly("latest", &lt::StepReport::latest,
                    "the newest values that need no wait: this step's on the CPU, else None or "
                    "some steps old");
}

}  // namespace

void register_train(py::module_& module) {
  register_schedules(module);
  register_reports(module);
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
