#include "libtrain/format/aliases.hpp"

#include "libtrain/core/require.hpp"
#include "libtrain/core/text.hpp"
#include "libtrain/format/json.hpp"

namespace libtrain::format {

std::string format_aliases(const std::map<std::string, std::string>& aliases) {
  for (const auto& [alias, name] : aliases) {
    require(is_valid_utf8(alias) && is_valid_utf8(name),
            "[aliases.format] name is not UTF-8: alias={}, name={}; rename it", quote(alias),
            quote(name));
    require(!aliases.contains(name),
            "[aliases.format] alias of an alias: alias={}, name={}; point it at the stored tensor",
            quote(alias), quote(name));
  }
  return Json(aliases).dump();
}

std::map<std::string, std::string> parse_aliases(const SafetensorsHeader& header,
                                                 const std::string& file) {
  const auto text = header.metadata.find(std::string(kAliasesKey));
  if (text == header.metadata.end()) {
    return {};
  }
  const auto fail = [&](std::string_view what, std::string_view detail) {
    throw BadFile(fill("[aliases.parse] {}: file={}, metadata={}, {}; write the file again", what,
                       quote(file, 400), quote(kAliasesKey), detail),
                  file);
  };
  const Json table = parse_json(text->second, file);
  if (!table.is_object()) {
    fail("not a table", fill("found {}, expected an object", table.type_name()));
  }
  std::map<std::string, std::string> aliases;
  for (const auto& [alias, name] : table.items()) {
    if (!name.is_string() || !header.tensors.contains(name.get_ref<const std::string&>())) {
      fail("alias of no stored tensor",
           fill("alias={}, name={}", quote(alias), quote(name.dump())));
    }
    if (header.tensors.contains(alias)) {
      fail("alias is also a stored tensor", fill("alias={}", quote(alias)));
    }
    aliases.emplace(alias, name.get<std::string>());
  }
  return aliases;
}

}  // namespace libtrain::format
