// Plain values: learning-rate schedules and what a step reports. They compare, print and pickle.

#include <pybind11/stl.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings/register.hpp"
#include "libtrain/core/text.hpp"
#include "libtrain/policy/schedule.hpp"
#include "libtrain/train/report.hpp"

namespace fasttrain {
namespace {

namespace lt = libtrain;
namespace py = pybind11;

/// The function that makes a schedule, and its arguments.
std::pair<const char*, py::tuple> call_of(const lt::Schedule& schedule) {
  const int64_t warmup = schedule.warmup_steps;
  const int64_t total = schedule.total_steps;
  switch (schedule.kind) {
    case lt::ScheduleKind::kConstant:
      return {"constant", py::make_tuple(warmup)};
    case lt::ScheduleKind::kLinear:
      return {"linear_warmup", py::make_tuple(warmup, total)};
    case lt::ScheduleKind::kCosine:
      return {"cosine", py::make_tuple(warmup, total, schedule.cycles, schedule.min_ratio)};
    case lt::ScheduleKind::kInverseSqrt:
      return {"inverse_sqrt", py::make_tuple(warmup, schedule.timescale)};
    case lt::ScheduleKind::kOneCycle:
      break;
  }
  return {"one_cycle", py::make_tuple(total, schedule.rising_fraction, schedule.div_factor,
                                      schedule.final_div_factor)};
}

std::string schedule_text(const lt::Schedule& schedule) {
  const auto [name, arguments] = call_of(schedule);
  std::vector<std::string> texts;
  for (const py::handle argument : arguments) {
    texts.push_back(py::repr(argument));
  }
  return lt::fill("{}({})", name, lt::join(texts, ", "));
}

py::tuple reduce_schedule(const lt::Schedule& schedule) {
  const auto [name, arguments] = call_of(schedule);
  return py::make_tuple(py::module_::import("fasttrain._native").attr(name), arguments);
}

void register_schedules(py::module_& module) {
  py::class_<lt::Schedule>(module, "Schedule",
                           "How the learning rate moves: a factor for each applied update.")
      .def("factor", &lt::factor, py::arg("applied_steps"),
           "The factor of the update that follows `applied_steps` applied ones.")
      .def(
          "__eq__", [](const lt::Schedule& a, const lt::Schedule& b) { return a == b; },
          py::is_operator())
      .def("__repr__", schedule_text)
      .def("__reduce__", reduce_schedule);
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

/// "Name(field=value, ...)" of an object bound here.
std::string fields_text(const py::object& object, const std::vector<const char*>& fields) {
  std::vector<std::string> texts;
  for (const char* field : fields) {
    texts.push_back(lt::fill("{}={}", field, std::string(py::repr(object.attr(field)))));
  }
  return lt::fill("{}({})", std::string(py::str(py::type::of(object).attr("__name__"))),
                  lt::join(texts, ", "));
}

void register_reports(py::module_& module) {
  using Values = lt::StepValues;
  using Report = lt::StepReport;
  py::class_<Values>(module, "StepValues", "What a training step measured.")
      .def_readonly("step", &Values::step)
      .def_readonly("applied", &Values::applied, "whether the weights moved")
      .def_readonly("loss", &Values::loss, "mean over the batch's weight")
      .def_readonly("grad_norm", &Values::grad_norm, "L2 norm before clipping")
      .def_readonly("lr_factor", &Values::lr_factor)
      .def_readonly("loss_scale", &Values::loss_scale)
      .def_readonly("skipped_in_row", &Values::skipped_in_row)
      .def("__repr__",
           [](const py::object& values) {
             return fields_text(values, {"step", "applied", "loss", "grad_norm", "lr_factor",
                                         "loss_scale", "skipped_in_row"});
           })
      .def(py::pickle(
          [](const Values& v) {
            return py::make_tuple(v.step, v.applied, v.loss, v.grad_norm, v.lr_factor, v.loss_scale,
                                  v.skipped_in_row);
          },
          [](const py::tuple& state) {
            return Values{state[0].cast<int64_t>(), state[1].cast<bool>(),
                          state[2].cast<double>(),  state[3].cast<double>(),
                          state[4].cast<double>(),  state[5].cast<double>(),
                          state[6].cast<int64_t>()};
          }));
  py::class_<Report>(module, "StepReport", "What a step returns at once.")
      .def_readonly("step", &Report::step)
      .def_readonly("samples", &Report::samples)
      .def_readonly("weight", &Report::weight)
      .def_readonly("latest", &Report::latest,
                    "the newest values that need no wait: this step's on the CPU, else None or "
                    "some steps old")
      .def("__repr__",
           [](const py::object& report) {
             return fields_text(report, {"step", "samples", "weight", "latest"});
           })
      .def(py::pickle(
          [](const Report& r) { return py::make_tuple(r.step, r.samples, r.weight, r.latest); },
          [](const py::tuple& state) {
            return Report{state[0].cast<int64_t>(), state[1].cast<int64_t>(),
                          state[2].cast<double>(), state[3].cast<std::optional<lt::StepValues>>()};
          }));
}

}  // namespace

void register_values(py::module_& module) {
  register_schedules(module);
  register_reports(module);
}

}  // namespace fasttrain
