// Tensors to and from safetensors files.

#include <pybind11/stl.h>

#include <map>
#include <string>

#include "bindings/register.hpp"
#include "libtrain/state/tensor_file.hpp"

namespace fasttrain {
namespace {

namespace lt = libtrain;
namespace py = pybind11;

/// str, bytes or os.PathLike, as the bytes the file system takes.
std::string path_of(const py::object& path) {
  PyObject* bytes = nullptr;
  if (PyUnicode_FSConverter(path.ptr(), &bytes) == 0) {
    throw py::error_already_set();
  }
  return py::reinterpret_steal<py::bytes>(bytes);
}

void save_file(const lt::TensorMap& tensors, const py::object& path,
               const std::map<std::string, std::string>& metadata) {
  const std::string file = path_of(path);
  const py::gil_scoped_release release;
  lt::save_file(tensors, file, metadata);
}

lt::TensorMap load_file(const py::object& path) {
  const std::string file = path_of(path);
  const py::gil_scoped_release release;
  return lt::load_file(file);
}

}  // namespace

void register_state(py::module_& module) {
  module.def("save_file", save_file, py::arg("tensors"), py::arg("path"),
             py::arg("metadata") = std::map<std::string, std::string>());
  module.def("load_file", load_file, py::arg("path"));
}

}  // namespace fasttrain
