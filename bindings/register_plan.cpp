// Plans: made, shown as text, dictionary and HTML table.

#include <pybind11/stl.h>

#include <optional>
#include <string>
#include <vector>

#include "bindings/options.hpp"
#include "bindings/register.hpp"
#include "libtrain/core/text.hpp"
#include "libtrain/facts/machine.hpp"
#include "libtrain/plan/explain.hpp"
#include "libtrain/plan/make_plan.hpp"
#include "libtrain/plan/option_table.hpp"
#include "libtrain/probe/probe.hpp"

namespace fasttrain {
namespace {

namespace lt = libtrain;
namespace py = pybind11;

lt::Plan make_plan(const py::dict& keywords, const std::optional<py::bytes>& machine,
                   const std::string& file) {
  const lt::PlanOptions options = read_options(keywords);
  const std::string text = machine ? std::string(*machine) : "";
  const bool recorded = machine.has_value();
  const py::gil_scoped_release release;
  return lt::make_plan(options,
                       recorded ? lt::parse_machine_facts(text, file) : lt::probe_machine());
}

py::dict to_dict(const lt::Plan& plan) {
  py::dict out;
  for (const lt::PlanRow& row : lt::plan_rows(plan)) {
    py::dict entry;
    entry["value"] = row.value;
    entry["source"] = row.source;
    entry["scope"] = row.scope;
    entry["reason"] = row.reason;
    out[py::str(row.key)] = entry;
  }
  return out;
}

std::string short_text(const lt::Plan& plan) {
  std::vector<std::string> rows;
  for (const lt::PlanRow& row : lt::plan_rows(plan)) {
    rows.push_back(lt::fill("{}={}", row.key, row.value));
  }
  return lt::fill("<fasttrain.Plan {}>", lt::join(rows, ", "));
}

[[noreturn]] void refuse_pickle(const lt::Plan& /*plan*/) {
  throw py::type_error(
      "cannot pickle a fasttrain.Plan: it belongs to the machine it was made for; to_dict() and "
      "str() of it can be kept");
}

std::string html_row(const char* cell, const std::vector<std::string>& texts) {
  const py::object escape = py::module_::import("html").attr("escape");
  std::string html = "<tr>";
  for (const std::string& text : texts) {
    html += lt::fill("<{}>{}</{}>", cell, escape(text).cast<std::string>(), cell);
  }
  return html + "</tr>\n";
}

std::string to_html(const lt::Plan& plan) {
  std::string html =
      "<table>\n" + html_row("th", {"decision", "value", "source", "scope", "reason"});
  for (const lt::PlanRow& row : lt::plan_rows(plan)) {
    html += html_row("td", {row.key, row.value, row.source, row.scope, row.reason});
  }
  return html + "</table>\n";
}

/// One line for each keyword of Runtime and plan().
std::string option_help() {
  std::string help;
  for (const lt::OptionInfo& option : lt::option_table()) {
    help += lt::fill("{}: {}; {}{}\n", option.key, option.meaning, option.allowed,
                     option.variable.empty() ? "" : lt::fill(" ({})", option.variable));
  }
  return help +
         "seed: of every generator; a whole number from 0\n"
         "allow_process_settings: whether settings that cannot be undone may be made; False\n";
}

}  // namespace

void register_plan(py::module_& module) {
  py::class_<lt::Plan>(module, "Plan",
                       "How a model is trained on a machine: every choice, whose it is, and why.")
      .def("__str__", [](const lt::Plan& plan) { return lt::explain(plan); })
      .def("__repr__", short_text)
      .def("__reduce__", refuse_pickle)
      .def(
          "__eq__", [](const lt::Plan& a, const lt::Plan& b) { return a == b; }, py::is_operator())
      .def("to_dict", to_dict,
           "{decision: {'value', 'source', 'scope', 'reason'}}, all text, in the table's order.")
      .def("_repr_html_", to_html);
  module.def("make_plan", make_plan, py::arg("options"), py::arg("machine") = py::none(),
             py::arg("file") = "");
  module.def("option_help", option_help);
}

}  // namespace fasttrain
