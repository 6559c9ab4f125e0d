#include "libtrain/format/json_fields.hpp"

#include <limits>

#include "libtrain/core/require.hpp"
#include "libtrain/core/text.hpp"

namespace libtrain::format {
namespace {

/// The value as it stands in the file, containers by their kind alone.
std::string describe(const Json& value) {
  if (value.is_string()) {
    return quote(value.get_ref<const std::string&>());
  }
  if (value.is_object() || value.is_array()) {
    return fill("an {}", value.type_name());
  }
  return value.is_number_float() ? to_text(value.get<double>()) : value.dump();
}

[[noreturn]] void fail(std::string_view what, std::string_view key, std::string_view expected,
                       const std::string& file) {
  throw BadFile(fill("[json.field] {}: file={}, key={}, expected {}; correct the file", what,
                     quote(file, 400), quote(key), expected),
                file);
}

const Json* find(const Json& object, std::string_view key, std::string_view expected,
                 const std::string& file) {
  if (!object.is_object()) {
    fail(fill("found {} where an object should hold the field", describe(object)), key, expected,
         file);
  }
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

bool holds(const Json& value, const int64_t* /*type*/) {
  constexpr auto kMax = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  return value.is_number_unsigned() ? value.get<uint64_t>() <= kMax : value.is_number_integer();
}
bool holds(const Json& value, const double* /*type*/) { return value.is_number(); }
bool holds(const Json& value, const bool* /*type*/) { return value.is_boolean(); }
bool holds(const Json& value, const std::string* /*type*/) { return value.is_string(); }

template <class T>
T convert(const Json& value, std::string_view key, std::string_view expected,
          const std::string& file) {
  if (!holds(value, static_cast<const T*>(nullptr))) {
    fail(fill("found {}", describe(value)), key, expected, file);
  }
  return value.get<T>();
}

template <class T>
T require_field(const Json& object, std::string_view key, std::string_view expected,
                const std::string& file) {
  const Json* value = find(object, key, expected, file);
  if (value == nullptr) {
    fail("missing field", key, expected, file);
  }
  return convert<T>(*value, key, expected, file);
}

template <class T>
std::optional<T> find_field(const Json& object, std::string_view key, std::string_view expected,
                            const std::string& file) {
  const Json* value = find(object, key, expected, file);
  if (value == nullptr || value->is_null()) {
    return std::nullopt;
  }
  return convert<T>(*value, key, expected, file);
}

constexpr std::string_view kInteger = "an integer";
constexpr std::string_view kNumber = "a number";
constexpr std::string_view kBool = "true or false";
constexpr std::string_view kString = "a string";

}  // namespace

int64_t require_int(const Json& object, std::string_view key, const std::string& file) {
  return require_field<int64_t>(object, key, kInteger, file);
}
double require_number(const Json& object, std::string_view key, const std::string& file) {
  return require_field<double>(object, key, kNumber, file);
}
bool require_bool(const Json& object, std::string_view key, const std::string& file) {
  return require_field<bool>(object, key, kBool, file);
}
std::string require_string(const Json& object, std::string_view key, const std::string& file) {
  return require_field<std::string>(object, key, kString, file);
}

std::optional<int64_t> find_int(const Json& object, std::string_view key, const std::string& file) {
  return find_field<int64_t>(object, key, kInteger, file);
}
std::optional<double> find_number(const Json& object, std::string_view key,
                                  const std::string& file) {
  return find_field<double>(object, key, kNumber, file);
}
std::optional<bool> find_bool(const Json& object, std::string_view key, const std::string& file) {
  return find_field<bool>(object, key, kBool, file);
}
std::optional<std::string> find_string(const Json& object, std::string_view key,
                                       const std::string& file) {
  return find_field<std::string>(object, key, kString, file);
}

}  // namespace libtrain::format
