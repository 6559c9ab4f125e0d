#include "libtrain/probe/loaded_libraries.hpp"

#include <algorithm>

#include "libtrain/core/text.hpp"

namespace libtrain {

std::vector<std::string> parse_loaded_libraries(std::string_view maps) {
  constexpr std::string_view kDeleted = " (deleted)";
  std::vector<std::string> files;
  for (const std::string_view line : split(maps, '\n')) {
    const size_t start = line.find('/');  // the fields before a path hold none
    if (start == std::string_view::npos) {
      continue;
    }
    std::string_view file = line.substr(start);
    if (file.ends_with(kDeleted)) {
      file.remove_suffix(kDeleted.size());
    }
    const std::string_view name = file.substr(file.rfind('/') + 1);
    const bool known = name.starts_with("libnccl.so") || name.starts_with("libcudnn.so");
    if (known && std::ranges::find(files, file) == files.end()) {
      files.emplace_back(file);
    }
  }
  return files;
}

}  // namespace libtrain
