#pragma once

#include "libtrain/kernels/philox.hpp"

namespace libtrain::kernels::LT_ISA {
namespace {

/// Dropout of a run of elements of one sample, at most kMostDrawn at a time.
class RowDropout {
 public:
  static constexpr int64_t kMostDrawn = 256;

  /// `probability` below 1.
  [[gnu::always_inline]] inline RowDropout(const RandomStream& stream, double probability)
      : stream_(stream),
        scale_(static_cast<float>(1.0 / (1.0 - probability))),
        threshold_(threshold_below_one(probability)) {}

  /// Elements [first, first + count) of the sample are next.
  [[gnu::always_inline]] inline void draw(int64_t first, int64_t count) {
    if (threshold_ == 0) {
      return;  // every number keeps its element
    }
    skip_ = first % 4;
    philox_fill(stream_, first, count, numbers_);
  }

  /// What becomes of the drawn elements from the i-th on.
  [[gnu::always_inline]] inline Floats apply(Floats x, int64_t i) const {
    const Words kept = Words(load<Words>(numbers_ + skip_ + i) >= threshold_);
    return Floats(Words(x * scale_) & kept);
  }

 private:
  RandomStream stream_;
  float scale_;
  uint32_t threshold_;
  int64_t skip_ = 0;  ///< numbers before the first element's in its block of four
  uint32_t numbers_[kMostDrawn + 2 * kPhiloxWords] = {};
};

}  // namespace
}  // namespace libtrain::kernels::LT_ISA
