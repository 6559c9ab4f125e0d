#include "bindings/options.hpp"

#include <string>
#include <string_view>
#include <vector>

#include "libtrain/core/require.hpp"
#include "libtrain/plan/nearest_name.hpp"
#include "libtrain/plan/option_table.hpp"

namespace fasttrain {
namespace {

namespace lt = libtrain;
namespace py = pybind11;

std::string text_of(const py::handle& value) {
  if (py::isinstance<py::bool_>(value)) {
    return value.cast<bool>() ? "on" : "off";
  }
  return py::str(value);
}

uint64_t read_seed(const py::handle& value) {
  const uint64_t seed =
      py::isinstance<py::int_>(value) ? PyLong_AsUnsignedLongLong(value.ptr()) : 0;
  const bool fits = py::isinstance<py::int_>(value) && PyErr_Occurred() == nullptr;
  PyErr_Clear();
  lt::require(fits, "[plan.set] value not allowed: seed={}, expected 0 to 2^64 - 1",
              lt::quote(text_of(value)));
  return seed;
}

bool read_bool(const char* key, const py::handle& value) {
  lt::require(py::isinstance<py::bool_>(value),
              "[plan.set] value not allowed: {}={}, expected True or False", key,
              lt::quote(text_of(value)));
  return value.cast<bool>();
}

void check_key(const std::string& key) {
  std::vector<std::string_view> keys{"seed", "allow_process_settings"};
  for (const lt::OptionInfo& option : lt::option_table()) {
    keys.push_back(option.key);
  }
  for (const std::string_view known : keys) {
    if (known == key) {
      return;
    }
  }
  const std::vector<std::string> names(keys.begin(), keys.end());
  throw lt::InvalidOption(lt::fill("[plan.set] no such option: key={}, expected one of {}{}",
                                   lt::quote(key), lt::join(names, ", "),
                                   lt::suggestion(key, keys)));
}

}  // namespace

lt::PlanOptions read_options(const py::dict& keywords) {
  lt::PlanOptions options;
  options.allow_process_settings = false;
  for (const auto& [name, value] : keywords) {
    const std::string key = name.cast<std::string>();
    check_key(key);
    if (value.is_none()) {
      continue;
    }
    if (key == "seed") {
      options.seed = read_seed(value);
    } else if (key == "allow_process_settings") {
      options.allow_process_settings = read_bool("allow_process_settings", value);
    } else {
      lt::set_option(options, key, text_of(value));
    }
  }
  return options;
}

}  // namespace fasttrain
