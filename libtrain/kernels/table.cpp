#include "libtrain/kernels/table.hpp"

#include "libtrain/core/require.hpp"
#include "libtrain/kernels/compiled.hpp"

namespace libtrain::kernels {

const Table& table() {
  static const Table& active = table(active_isa());
  return active;
}

const Table& table(Isa isa) {
  for (const Compiled& entry : compiled()) {
    if (entry.isa == isa) {
      return *entry.table;
    }
  }
  throw InvalidOption(
      fill("[kernels.table] this CPU or build lacks the instruction set: isa={}, expected one of "
           "available_isas()",
           to_text(isa)));
}

}  // namespace libtrain::kernels
