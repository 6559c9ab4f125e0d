#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "libtrain/core/api.hpp"
#include "libtrain/format/json.hpp"

namespace libtrain::format {

/// Fields of a JSON object out of a configuration file. All throw BadFile (kContent) that names the
/// file, the key, what stands there and what was expected; `object` itself must be an object.
///
/// An integer has no fraction and no exponent in the text and fits int64; a number may be either.
LT_API int64_t require_int(const Json& object, std::string_view key, const std::string& file);
LT_API double require_number(const Json& object, std::string_view key, const std::string& file);
LT_API bool require_bool(const Json& object, std::string_view key, const std::string& file);
LT_API std::string require_string(const Json& object, std::string_view key,
                                  const std::string& file);

/// The same, but nothing where the key is missing or null.
LT_API std::optional<int64_t> find_int(const Json& object, std::string_view key,
                                       const std::string& file);
LT_API std::optional<double> find_number(const Json& object, std::string_view key,
                                         const std::string& file);
LT_API std::optional<bool> find_bool(const Json& object, std::string_view key,
                                     const std::string& file);
LT_API std::optional<std::string> find_string(const Json& object, std::string_view key,
                                              const std::string& file);

}  // namespace libtrain::format
