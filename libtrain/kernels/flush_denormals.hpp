#pragma once

#ifdef __SSE2__
#include <immintrin.h>
#endif

namespace libtrain::kernels::LT_ISA {

/// Until it ends, this thread's numbers below the smallest normal one count as 0 (on x86).
class FlushDenormals {
#ifdef __SSE2__
 public:
  [[gnu::always_inline]] FlushDenormals() : before_(_mm_getcsr()) {
    constexpr unsigned kFlushToZero = 0x8000;
    constexpr unsigned kDenormalsAreZero = 0x0040;
    _mm_setcsr(before_ | kFlushToZero | kDenormalsAreZero);
  }
  [[gnu::always_inline]] ~FlushDenormals() { _mm_setcsr(before_); }
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

 private:
  unsigned before_;
#endif
};

}  // namespace libtrain::kernels::LT_ISA
