#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "libtrain/core/api.hpp"

namespace libtrain::format {

/// Keeps the order of the keys. Looking one up takes time linear in their number: walk large
/// objects.
using Json = nlohmann::ordered_json;

/// Strict JSON (RFC 8259): valid UTF-8 without a byte order mark, no duplicate keys, depth at most
/// 64, integers that fit int64 or uint64, finite numbers, nothing after the value but white space.
/// Throws BadFile (kContent) with `name` as the file and the byte offset at which the fault shows.
LT_API Json parse_json(std::string_view text, const std::string& name);

}  // namespace libtrain::format
