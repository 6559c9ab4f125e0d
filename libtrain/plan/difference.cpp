#include <algorithm>

#include "libtrain/core/text.hpp"
#include "libtrain/plan/explain.hpp"
#include "libtrain/plan/wrapped_text.hpp"

namespace libtrain {
namespace {

void add_side(std::string& out, const std::string& name, size_t name_width, const PlanRow& row,
              size_t width) {
  std::string start = fill("  {}  ", padded(name, name_width));
  const size_t margin = width_of(start);
  constexpr size_t kNarrowest = 24;
  const size_t left = std::max(width - std::min(width, margin), kNarrowest);
  const std::string why = row.reason.empty() ? "" : fill(": {}", row.reason);
  for (const std::string& part : wrapped(row.value + why, left)) {
    out += padded(start, margin) + part + "\n";
    start.clear();
  }
}

}  // namespace

std::string describe_difference(const Plan& first, const std::string& first_name,
                                const Plan& second, const std::string& second_name, int width) {
  const std::vector<PlanRow> a = plan_rows(first);
  const std::vector<PlanRow> b = plan_rows(second);
  const size_t name_width = std::max(width_of(first_name), width_of(second_name));
  std::string out;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].value != b[i].value) {
      out += a[i].key + "\n";
      add_side(out, first_name, name_width, a[i], static_cast<size_t>(std::max(width, 0)));
      add_side(out, second_name, name_width, b[i], static_cast<size_t>(std::max(width, 0)));
    }
  }
  return out.empty() ? "no difference\n" : out;
}

}  // namespace libtrain
