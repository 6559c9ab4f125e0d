// The runtime: a plan made for this machine and applied to this process.

#include <pybind11/stl.h>

#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "bindings/options.hpp"
#include "bindings/register.hpp"
#include "libtrain/amp/planned_autocast.hpp"
#include "libtrain/runtime/model_facts.hpp"
#include "libtrain/runtime/runtime.hpp"

namespace fasttrain {
namespace {

namespace lt = libtrain;
namespace py = pybind11;

std::unique_ptr<lt::Runtime> make_runtime(const py::dict& keywords) {
  const lt::PlanOptions options = read_options(keywords);
  const py::gil_scoped_release release;
  return std::make_unique<lt::Runtime>(options);
}

void complete(lt::Runtime& runtime, const std::string& name,
              const std::vector<at::Tensor>& parameters, bool has_convolutions) {
  lt::ModelFacts facts = lt::describe_parameters(parameters);
  facts.name = name;
  facts.has_convolutions = has_convolutions;
  runtime.complete(facts);
}

std::tuple<std::string, at::ScalarType, bool> autocast(const lt::Runtime& runtime) {
  const lt::AutocastState state = lt::planned_autocast(runtime.plan());
  return {c10::DeviceTypeName(state.device, /*lower_case=*/true), state.dtype, state.enabled};
}

}  // namespace

void register_runtime(py::module_& module) {
  py::class_<lt::Runtime>(module, "Runtime")
      .def(py::init(&make_runtime), py::arg("options"))
      .def_property_readonly("plan", &lt::Runtime::plan, py::return_value_policy::copy)
      .def_property_readonly("device", &lt::Runtime::device)
      .def_property_readonly("seed", &lt::Runtime::seed)
      .def_property_readonly("autocast", &autocast)
      .def_property_readonly("channels_last",
                             [](const lt::Runtime& runtime) {
                               return runtime.plan().memory_format &&
                                      runtime.plan().memory_format->value ==
                                          lt::MemoryFormat::kChannelsLast;
                             })
      .def_property_readonly(
          "loss_scaling",
          [](const lt::Runtime& runtime) { return runtime.plan().loss_scaling.value; })
      .def("complete", complete, py::arg("name"), py::arg("parameters"),
           py::arg("has_convolutions"))
      .def("restore_settings", &lt::Runtime::restore_settings, ReleaseGil());
}

}  // namespace fasttrain
