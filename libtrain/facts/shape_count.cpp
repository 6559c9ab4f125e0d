#include "libtrain/facts/shape_count.hpp"

#include <algorithm>
#include <utility>

namespace libtrain {

void add_to(std::vector<ShapeCount>& tensors, ShapeCount more) {
  const auto same = std::ranges::find_if(tensors, [&](const ShapeCount& known) {
    return known.dtype == more.dtype && known.shape == more.shape;
  });
  if (same == tensors.end()) {
    tensors.push_back(std::move(more));
  } else {
    same->count += more.count;
  }
}

}  // namespace libtrain
