#include "libtrain/kernels/isa.hpp"

#include <cstdlib>
#include <string>

#include "libtrain/core/require.hpp"
#include "libtrain/kernels/compiled.hpp"

namespace libtrain::kernels {
namespace {

Isa choose() {
  const std::vector<Isa> available = available_isas();
  const char* asked = std::getenv("FASTTRAIN_ISA");
  if (asked == nullptr) {
    return available.back();
  }
  std::vector<std::string> names;
  for (const Isa isa : available) {
    if (to_text(isa) == asked) {
      return isa;
    }
    names.emplace_back(to_text(isa));
  }
  throw InvalidOption(
      fill("[kernels.isa] this CPU has no such instruction set: FASTTRAIN_ISA={}, expected {}; "
           "unset it to get the fastest",
           quote(asked), join(names, ", ")));
}

}  // namespace

std::string_view to_text(Isa isa) {
  switch (isa) {
    case Isa::kScalar:
      return "scalar";
    case Isa::kAvx2:
      return "avx2";
    case Isa::kAvx512:
      return "avx512";
  }
  return "unknown";
}

std::vector<Isa> available_isas() {
  std::vector<Isa> isas;
  for (const Compiled& entry : compiled()) {
    isas.push_back(entry.isa);
  }
  return isas;
}

Isa active_isa() {
  static const Isa isa = choose();
  return isa;
}

}  // namespace libtrain::kernels
