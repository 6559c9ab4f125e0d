#include "libtrain/plan/nearest_name.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "libtrain/core/text.hpp"

namespace libtrain {
namespace {

/// Longer text is no slip of the finger, and the cost is the product of the lengths.
constexpr size_t kLongestText = 64;

}  // namespace

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row.back();
}

std::string_view nearest_name(std::string_view text, std::span<const std::string_view> names) {
  if (text.size() > kLongestText) {
    return {};
  }
  std::string_view best;
  size_t best_distance = text.size() / 3 + 1;
  for (const std::string_view name : names) {
    const size_t distance = edit_distance(text, name);
    if (distance < best_distance) {
      best = name;
      best_distance = distance;
    }
  }
  return best;
}

std::string suggestion(std::string_view text, std::span<const std::string_view> names) {
  const std::string_view name = nearest_name(text, names);
  return name.empty() ? "" : fill("; did you mean {}?", name);
}

}  // namespace libtrain
