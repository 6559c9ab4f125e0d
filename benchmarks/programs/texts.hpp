#pragma once

#include <string>
#include <vector>

#include "libtrain/runtime/batch.hpp"

namespace benchmarks {

/// Packed batches by group out of the file that benchmarks/peers/texts.py describes. `order`:
/// "random" or "sorted".
std::vector<std::vector<libtrain::Batch>> read_groups(const std::string& path,
                                                      const std::string& order);

}  // namespace benchmarks
