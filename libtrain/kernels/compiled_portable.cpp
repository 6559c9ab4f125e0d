#include "libtrain/kernels/compiled.hpp"

namespace libtrain::kernels {

namespace scalar {
extern const Table kTable;
}

const std::vector<Compiled>& compiled() {
  static const std::vector<Compiled> found{{Isa::kScalar, &scalar::kTable}};
  return found;
}

}  // namespace libtrain::kernels
