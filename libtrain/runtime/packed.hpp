#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "libtrain/core/api.hpp"

namespace libtrain {

/// Where each sample's rows lie when samples of different lengths are stored one after another
/// without padding: sample i owns rows [offsets[i], offsets[i + 1]).
class LT_API PackedLayout {
 public:
  PackedLayout() = default;
  /// Lengths >= 0, one per sample. Throws InvalidOption for a negative one.
  explicit PackedLayout(const std::vector<int64_t>& lengths);

  int64_t samples() const noexcept { return static_cast<int64_t>(offsets_.size()) - 1; }
  int64_t rows() const noexcept { return offsets_.back(); }
  int64_t longest() const noexcept;
  int64_t begin(int64_t sample) const { return offsets_[static_cast<size_t>(sample)]; }
  int64_t length(int64_t sample) const { return begin(sample + 1) - begin(sample); }
  const std::vector<int64_t>& offsets() const noexcept { return offsets_; }
  /// The layout of samples [first, first + count) alone.
  PackedLayout slice(int64_t first, int64_t count) const;

 private:
  std::vector<int64_t> offsets_{0};
};

/// Layouts are shared, never copied, between a batch and the graph nodes that need them.
using PackedLayoutPtr = std::shared_ptr<const PackedLayout>;

/// `layout` and, after its samples, short ones that fill its rows up to one of eight numbers per
/// doubling. Matrix products are compiled and tuned per shape: batches of texts, which hardly ever
/// have the same number of rows, then share a few. At most an eighth more rows, a sixteenth on
/// average; no filler is longer than the longest sample.
LT_API PackedLayoutPtr with_filler(const PackedLayoutPtr& layout);

}  // namespace libtrain
