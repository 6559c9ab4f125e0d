#pragma once

#include "libtrain/kernels/attention.hpp"
#include "libtrain/kernels/philox.hpp"

namespace libtrain::kernels::LT_ISA {
namespace {

/// Which probabilities of one tile (a block of queries by a block of keys) dropout keeps.
class TileDropout {
 public:
  [[gnu::always_inline]] inline TileDropout(const AttentionArgs& args, int64_t query, int64_t rows,
                                            int64_t key, int64_t keys, float* numbers)
      : stream_(args.stream),
        first_((args.head * args.length + query) * args.length + key),
        length_(args.length),
        keys_(keys),
        one_run_(keys == args.length),
        numbers_(numbers),
        threshold_(threshold_below_one(args.dropout)) {
    if (one_run_) {
      philox_fill(stream_, first_, rows * keys, numbers_);
    }
  }

  /// Call for rows in order, before mask().
  [[gnu::always_inline]] inline void start_row(int64_t row) {
    if (one_run_) {
      row_ = numbers_ + first_ % 4 + row * keys_;
    } else {
      philox_fill(stream_, first_ + row * length_, keys_, numbers_);
      row_ = numbers_ + (first_ + row * length_) % 4;
    }
  }

  /// All ones for the kept among keys [key, key + kLanes) of the row.
  [[gnu::always_inline]] inline Words mask(int64_t key) const {
    return Words(load<Words>(row_ + key) >= threshold_);
  }

 private:
  RandomStream stream_;
  int64_t first_;
  int64_t length_;
  int64_t keys_;
  bool one_run_;    ///< the tile holds whole rows: its numbers follow one another
  float* numbers_;  ///< holds bits, read and written through load() and store() alone
  const float* row_ = nullptr;
  uint32_t threshold_;
};

}  // namespace
}  // namespace libtrain::kernels::LT_ISA
