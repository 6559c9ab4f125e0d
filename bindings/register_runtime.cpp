// The runtime: a plan made for this machine and applied to this process.

#include <pybind11/stl.h>

#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "bindings/options.hpp"
#include "bindings/register.hpp"
#include "libtrain/amp/planned_autocast.hpp"
#include "libtrain/core/text.hpp"
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

std::unique_ptr<lt::Runtime> make_simulated(const py::dict& keywords, const py::bytes& machine,
                                            const std::string& file) {
  const lt::PlanOptions options = read_options(keywords);
  const std::string text(machine);
  const py::gil_scoped_release release;
  return std::make_unique<lt::Runtime>(
      lt::Runtime::simulated(options, lt::parse_machine_facts(text, file)));
}

std::optional<lt::SimulationReport> simulation(const lt::Runtime& runtime) {
  const lt::Simulation* const simulation = runtime.simulation();
  return simulation == nullptr ? std::nullopt : std::optional(simulation->report());
}

std::string text_of(const lt::SimulationReport& report) {
  return lt::fill("<fasttrain.SimulationReport of {}: {} races, {} host waits, {} bytes at most>",
                  report.machine, report.races.size(), report.host_waits, report.peak_bytes);
}

void complete(lt::Runtime& runtime, const std::string& name,
              const std::vector<at::Tensor>& parameters, const std::vector<at::Tensor>& gemms,
              const std::vector<at::Tensor>& convolutions, bool has_attention) {
  lt::ModelFacts facts = lt::describe_weights({.parameters = parameters,
                                               .gemms = gemms,
                                               .convolutions = convolutions,
                                               .has_attention = has_attention});
  facts.name = name;
  runtime.complete(facts);
}

std::tuple<std::string, at::ScalarType, bool> autocast(const lt::Runtime& runtime) {
  const lt::AutocastState state = lt::planned_autocast(runtime);
  return {c10::DeviceTypeName(state.device, /*lower_case=*/true), state.dtype, state.enabled};
}

}  // namespace

void register_runtime(py::module_& module) {
  using Report = lt::SimulationReport;
  py::class_<Report>(module, "SimulationReport",
                     "What a simulated device saw since its runtime was made.")
      .def_readonly("machine", &Report::machine, "Name of the GPU that is simulated.")
      .def_readonly("races", &Report::races,
                    "Uses of memory that nothing orders, one sentence each.")
      .def_readonly("waits", &Report::waits, "Where the host waited, and how often.")
      .def_readonly("host_waits", &Report::host_waits, "How often the host waited in all.")
      .def_readonly("peak_bytes", &Report::peak_bytes, "The most memory the device held at once.")
      .def_readonly("limit_bytes", &Report::limit_bytes,
                    "The memory it has; 0 where the machine's facts do not say.")
      .def("__repr__", &text_of);
  py::class_<lt::Runtime>(module, "Runtime")
      .def(py::init(&make_runtime), py::arg("options"))
      .def_static("simulated", &make_simulated, py::arg("options"), py::arg("machine"),
                  py::arg("file"))
      .def_property_readonly("simulation", &simulation)
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
      .def("complete", complete, py::arg("name"), py::arg("parameters"), py::arg("gemms"),
           py::arg("convolutions"), py::arg("has_attention"))
      .def("restore_settings", &lt::Runtime::restore_settings, ReleaseGil());
}

}  // namespace fasttrain
