#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "libtrain/core/api.hpp"

namespace libtrain::format {

using Json = nlohmann::ordered_json;

/// Strict JSON: UTF-8, no duplicate keys, depth at most 64, nothing after the value. Throws BadFile
/// (kContent) with `name` as the file and the byte offset of the fault.
LT_API Json parse_json(std::string_view text, const std::string& name);

}  // namespace libtrain::format
