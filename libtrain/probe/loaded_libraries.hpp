#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "libtrain/core/api.hpp"

namespace libtrain {

/// The files of NCCL and cuDNN in /proc/self/maps, each once.
LT_API std::vector<std::string> parse_loaded_libraries(std::string_view maps);

}  // namespace libtrain
