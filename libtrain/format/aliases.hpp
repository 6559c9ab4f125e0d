#pragma once

#include <map>
#include <string>
#include <string_view>

#include "libtrain/core/api.hpp"
#include "libtrain/format/safetensors.hpp"

namespace libtrain::format {

/// Where a safetensors file keeps the other names of tensors it stores once: the metadata string of
/// this key is a JSON object from each alias to the name under which the tensor is stored.
inline constexpr std::string_view kAliasesKey = "libtrain.aliases";

/// Text for that metadata string. Throws InvalidOption for invalid UTF-8 or an alias whose name is
/// itself an alias.
LT_API std::string format_aliases(const std::map<std::string, std::string>& aliases);

/// Alias to name, empty when the file has no table. Throws BadFile (kContent) with `file` for
/// anything but strings, an alias that is also a stored tensor, and a name that is not.
LT_API std::map<std::string, std::string> parse_aliases(const SafetensorsHeader& header,
                                                        const std::string& file);

}  // namespace libtrain::format
