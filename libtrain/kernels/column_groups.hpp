#pragma once

#include "libtrain/kernels/vector.hpp"

namespace libtrain::kernels::LT_ISA {
namespace {

/// Columns are taken 32 at a time on every ISA, so that sums over a row have the same bits.
constexpr int kGroup = 32;
constexpr int kGroupVectors = kGroup / kLanes;

/// 32 columns of a row, read and written a vector at a time: load(row, i) is columns first +
/// [i * kLanes, (i + 1) * kLanes).
struct WholeGroup {
  int64_t first;

  template <class T>
  [[gnu::always_inline]] inline Floats load(const T* row, int i, float = 0) const {
    return load_floats(row + first + i * kLanes);
  }
  template <class T>
  [[gnu::always_inline]] inline void store(T* row, int i, Floats value) const {
    store_floats(row + first + i * kLanes, value);
  }
};

/// The first kLanes numbers of `from`, or `count` where those are fewer.
template <class T>
[[gnu::noinline]] void copy_lanes(const T* from, T* to, int64_t count) {
  for (int64_t lane = 0; lane < kLanes && lane < count; ++lane) {
    to[lane] = from[lane];
  }
}

/// The last columns of a row, fewer than 32: those behind the end read as `fill` and are not
/// written.
struct PartGroup {
  int64_t first;
  int64_t count;

  template <class T>
  [[gnu::always_inline]] inline Floats load(const T* row, int i, float fill = 0) const {
    T values[kLanes];
    store_floats(values, Floats{} + fill);
    copy_lanes(row + first + i * kLanes, values, count - i * kLanes);
    return load_floats(values);
  }
  template <class T>
  [[gnu::always_inline]] inline void store(T* row, int i, Floats value) const {
    T values[kLanes];
    store_floats(values, value);
    copy_lanes(values, row + first + i * kLanes, count - i * kLanes);
  }
};

/// body(group) for the columns [begin, end), in order.
template <class Body>
[[gnu::always_inline]] inline void for_groups(int64_t begin, int64_t end, const Body& body) {
  for (; end - begin >= kGroup; begin += kGroup) {
    body(WholeGroup{begin});
  }
  if (begin < end) {
    body(PartGroup{begin, end - begin});
  }
}

/// Column c is added to sum c % 32; then sums i and i + 16 are added, i and i + 8, and so on.
class RowSum {
 public:
  [[gnu::always_inline]] inline void add(int i, Floats value) { sums_[i] += value; }
  [[gnu::always_inline]] inline float total() {
    for (int width = kGroupVectors / 2; width > 0; width /= 2) {
      for (int i = 0; i < width; ++i) {
        sums_[i] += sums_[i + width];
      }
    }
    return sum_of_lanes(sums_[0]);
  }

 private:
  Floats sums_[kGroupVectors] = {};
};

}  // namespace
}  // namespace libtrain::kernels::LT_ISA
