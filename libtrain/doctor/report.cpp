#include "libtrain/doctor/doctor.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "libtrain/core/text.hpp"
#include "libtrain/plan/wrapped_text.hpp"

namespace libtrain {
namespace {

size_t longest_name(const std::vector<Finding>& findings) {
  size_t longest = 0;
  for (const Finding& finding : findings) {
    longest = std::max(longest, finding.check.size());
  }
  return longest;
}

/// Evidence may carry text from outside.
std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t length = shown_length(text);
    out += length == 0 ? escaped(text.front()) : std::string(text.substr(0, length));
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return out;
}

std::string counts(const std::vector<Finding>& findings) {
  std::vector<std::string> parts;
  for (const Verdict verdict : {Verdict::kFail, Verdict::kWarn, Verdict::kPass, Verdict::kSkip}) {
    const auto count = std::ranges::count(findings, verdict, &Finding::verdict);
    parts.push_back(fill("{} {}", count, to_text(verdict)));
  }
  return join(parts, ", ");
}

}  // namespace

std::string describe_findings(const std::vector<Finding>& findings, int width) {
  constexpr size_t kNarrowest = 24;
  const size_t margin = 6 + longest_name(findings) + 2;
  const auto total = static_cast<size_t>(std::max(width, 0));
  const size_t text_width = std::max(total - std::min(total, margin), kNarrowest);
  std::string out;
  for (const Finding& finding : findings) {
    std::string line = fill("{}  {}", to_text(finding.verdict), finding.check);
    const auto add = [&](const std::string& text) {
      for (const std::string& part : wrapped(printable(text), text_width)) {
        out += padded(line, margin) + part + "\n";
        line.clear();
      }
    };
    add(finding.evidence);
    if (!finding.consequence.empty()) {
      add("means: " + finding.consequence);
      add("mend: " + finding.remedy);
    }
  }
  return out + counts(findings) + "\n";
}

std::string findings_json(const std::vector<Finding>& findings) {
  auto list = nlohmann::ordered_json::array();
  for (const Finding& finding : findings) {
    list.push_back({{"check", finding.check},
                    {"verdict", to_text(finding.verdict)},
                    {"evidence", finding.evidence},
                    {"consequence", finding.consequence},
                    {"remedy", finding.remedy}});
  }
  return list.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace libtrain
