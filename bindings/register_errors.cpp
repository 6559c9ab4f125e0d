// The library's errors as the exceptions of fasttrain/_errors.py, its warnings as Python's.

#include <torch/csrc/Exceptions.h>

#include <exception>
#include <string>

#include "bindings/register.hpp"
#include "libtrain/core/error.hpp"
#include "libtrain/core/warning.hpp"

namespace fasttrain {
namespace {

namespace lt = libtrain;
namespace py = pybind11;

/// Sets the exception `name` of fasttrain/_errors.py, with `attributes` on it.
void set_error(const char* name, const std::exception& error, const py::dict& attributes = {}) {
  const py::object type = py::module_::import("fasttrain._errors").attr(name);
  const py::object exception = type(error.what());
  for (const auto& [key, value] : attributes) {
    py::setattr(exception, key, value);
  }
  PyErr_SetObject(type.ptr(), exception.ptr());
}

void translate(std::exception_ptr thrown) {
  try {
    std::rethrow_exception(std::move(thrown));
  } catch (const lt::BadFile& error) {
    py::dict attributes;
    attributes["filename"] = error.file();
    attributes["offset"] = error.offset();
    set_error("BadFile", error, attributes);
  } catch (const lt::OutOfMemory& error) {
    py::dict attributes;
    attributes["estimated_bytes"] = error.estimated_bytes();
    attributes["available_bytes"] = error.available_bytes();
    set_error("OutOfMemory", error, attributes);
  } catch (const lt::InvalidOption& error) {
    set_error("InvalidOption", error);
  } catch (const lt::Unsupported& error) {
    set_error("Unsupported", error);
  } catch (const lt::DeviceError& error) {
    set_error("DeviceError", error);
  } catch (const lt::InternalError& error) {
    set_error("InternalError", error);
  } catch (const lt::Error& error) {
    set_error("Error", error);
  } catch (python_error& error) {  // raised by a hook or a Function during backward()
    if (PyErr_Occurred() == nullptr) {
      error.restore();
    }
  }
}

/// A filter that turns warnings into errors raises here, where nothing can be raised: it is
/// dropped.
void warn_in_python(const std::string& message) {
  const py::gil_scoped_acquire gil;
  if (PyErr_WarnEx(PyExc_RuntimeWarning, message.c_str(), /*stack_level=*/2) != 0) {
    PyErr_Clear();
  }
}

/// For tests: the types that no call raises on every machine.
void throw_error(const std::string& name, const std::string& message) {
  if (name == "BadFile") throw lt::BadFile(message, "file", 7);
  if (name == "OutOfMemory") throw lt::OutOfMemory(message, 3, 2);
  if (name == "InvalidOption") throw lt::InvalidOption(message);
  if (name == "Unsupported") throw lt::Unsupported(message);
  if (name == "DeviceError") throw lt::DeviceError(message);
  if (name == "InternalError") throw lt::InternalError(message);
  throw lt::Error(message);
}

}  // namespace

void register_errors(py::module_& module) {
  py::register_local_exception_translator(translate);
  lt::set_warning_handler(warn_in_python);
  py::module_::import("atexit").attr("register")(
      py::cpp_function([] { lt::set_warning_handler({}); }));
  module.def("_throw", throw_error, py::arg("name"), py::arg("message"));
}

}  // namespace fasttrain
