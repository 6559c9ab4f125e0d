#include "libtrain/kernels/compiled.hpp"

namespace libtrain::kernels {

namespace scalar {
extern const Table kTable;
}
namespace avx2 {
extern const Table kTable;
}
namespace avx512 {
extern const Table kTable;
}

namespace {

/// __builtin_cpu_supports reads CPUID and, for registers the operating system must save, XCR0.
std::vector<Compiled> detect() {
  __builtin_cpu_init();
  std::vector<Compiled> found{{Isa::kScalar, &scalar::kTable}};
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) {
    return found;
  }
  found.push_back({Isa::kAvx2, &avx2::kTable});
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    found.push_back({Isa::kAvx512, &avx512::kTable});
  }
  return found;
}

}  // namespace

const std::vector<Compiled>& compiled() {
  static const std::vector<Compiled> found = detect();
  return found;
}

}  // namespace libtrain::kernels
