#pragma once

#include "libtrain/core/api.hpp"
#include "libtrain/facts/library.hpp"

namespace libtrain {

/// What this build was configured with (cmake/FindLibTorch.cmake). Without LibTorch the library's
/// own version alone is known.
LT_API LibraryFacts build_facts();

}  // namespace libtrain
