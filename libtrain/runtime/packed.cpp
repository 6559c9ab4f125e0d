#include "libtrain/runtime/packed.hpp"

#include <algorithm>

#include "libtrain/core/require.hpp"

namespace libtrain {

PackedLayout::PackedLayout(const std::vector<int64_t>& lengths) {
  offsets_.reserve(lengths.size() + 1);
  for (size_t i = 0; i < lengths.size(); ++i) {
    require(lengths[i] >= 0, "[batch.layout] length={} of sample {}, expected >= 0", lengths[i], i);
    offsets_.push_back(offsets_.back() + lengths[i]);
  }
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
