#include "libtrain/runtime/packed.hpp"

#include <algorithm>
#include <bit>

#include "libtrain/core/require.hpp"

namespace libtrain {

PackedLayout::PackedLayout(const std::vector<int64_t>& lengths) {
  offsets_.reserve(lengths.size() + 1);
  for (size_t i = 0; i < lengths.size(); ++i) {
    require(lengths[i] >= 0, "[batch.layout] length={} of sample {}, expected >= 0", lengths[i], i);
    offsets_.push_back(offsets_.back() + lengths[i]);
  }
}

namespace {

/// Rows of a filler: attention within it costs next to nothing.
constexpr int64_t kFillerRows = 16;

/// The next multiple of an eighth of the largest power of two up to `rows`.
int64_t round_up(int64_t rows) {
  const auto power = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(rows)));
  const int64_t unit = std::max<int64_t>(1, power / 8);
  return (rows + unit - 1) / unit * unit;
}

}  // namespace

PackedLayoutPtr with_filler(const PackedLayoutPtr& layout) {
  const int64_t rows = layout->rows();
  int64_t missing = round_up(rows) - rows;
  if (missing == 0) {
    return layout;
  }
  std::vector<int64_t> lengths;
  for (int64_t sample = 0; sample < layout->samples(); ++sample) {
    lengths.push_back(layout->length(sample));
  }
  const int64_t longest = std::min(kFillerRows, layout->longest());
  for (; missing > 0; missing -= lengths.back()) {
    lengths.push_back(std::min(missing, longest));
  }
  return std::make_shared<const PackedLayout>(lengths);
}

int64_t PackedLayout::longest() const noexcept {
  int64_t longest = 0;
  for (int64_t i = 0; i < samples(); ++i) {
    longest = std::max(longest, length(i));
  }
  return longest;
}

PackedLayout PackedLayout::slice(int64_t first, int64_t count) const {
  require(first >= 0 && count >= 0 && first + count <= samples(),
          "[batch.slice] samples [{}, {}), expected a range within {}", first, first + count,
          samples());
  std::vector<int64_t> lengths;
  lengths.reserve(static_cast<size_t>(count));
  for (int64_t i = first; i < first + count; ++i) {
    lengths.push_back(length(i));
  }
  return PackedLayout(lengths);
}

}  // namespace libtrain
