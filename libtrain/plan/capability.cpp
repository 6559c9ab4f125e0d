#include "libtrain/plan/capability.hpp"

#include <algorithm>
#include <iterator>

#include "libtrain/core/text.hpp"

namespace libtrain {
namespace {

constexpr ComputeCapability kKnown[] = {{5, 0},  {5, 2},  {5, 3},  {6, 0},  {6, 1}, {6, 2}, {7, 0},
                                        {7, 2},  {7, 5},  {8, 0},  {8, 6},  {8, 7}, {8, 9}, {9, 0},
                                        {10, 0}, {10, 3}, {11, 0}, {12, 0}, {12, 1}};

}  // namespace

std::string describe(ComputeCapability capability) {
  const std::string text = fill("compute capability {}", to_text(capability));
  const auto* const above = std::ranges::upper_bound(kKnown, capability);
  if (above == std::begin(kKnown)) {
    return fill("{} (older than any known here)", text);
  }
  const ComputeCapability nearest = *std::prev(above);
  return nearest == capability ? text
                               : fill("{} (not known here, judged as {})", text, to_text(nearest));
}

}  // namespace libtrain
