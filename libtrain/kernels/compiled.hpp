#pragma once

#include <vector>

#include "libtrain/kernels/table.hpp"

namespace libtrain::kernels {

/// The kernels compiled for one ISA.
struct Compiled {
  Isa isa;
  const Table* table;
};

/// What this build holds and this CPU and its operating system can run, slowest first.
const std::vector<Compiled>& compiled();

}  // namespace libtrain::kernels
