#include "libtrain/facts/fact_lines.hpp"

#include <algorithm>
#include <utility>

#include "libtrain/core/error.hpp"
#include "libtrain/core/text.hpp"

namespace libtrain {
namespace {

constexpr std::string_view kHead = "libtrain-facts 1";

}  // namespace

FactWriter::FactWriter() : text_(fill("{}\n", kHead)) {}

void FactWriter::write_line(const std::string& key, const std::string& value) {
  text_.append(key).append(" = ").append(value).append("\n");
}

FactReader::FactReader(std::string_view text, std::string file) : file_(std::move(file)) {
  Line line{.value = {}, .number = 0, .offset = 0};
  for (const std::string_view raw : split(text, '\n')) {
    ++line.number;
    const std::string_view content = trim(raw);
    if (!is_valid_utf8(raw)) {
      fail(line, fill("the line is not UTF-8: {}", quote(raw)));
    }
    if (line.number == 1) {
      if (content != kHead) {
        fail(line, fill("the file does not start as a facts file of this version: {}, expected {}",
                        quote(content), quote(kHead)));
      }
    } else if (!content.empty() && content.front() != '#') {
      const size_t equals = content.find('=');
      if (equals == std::string_view::npos) {
        fail(line, fill("the line is neither `key = value` nor a # comment: {}", quote(content)));
      }
      const std::string_view key = trim(content.substr(0, equals));
      line.value = trim(content.substr(equals + 1));
      if (!lines_.emplace(key, line).second) {
        fail(line, fill("the key is given twice: key={}", quote(key)));
      }
    }
    line.offset += static_cast<int64_t>(raw.size()) + 1;
  }
}

std::vector<FactReader::NamedLine> FactReader::take_all(const std::string& prefix) {
  std::vector<NamedLine> taken;
  for (auto at = lines_.lower_bound(prefix); at != lines_.end() && at->first.starts_with(prefix);
       at = lines_.erase(at)) {
    const auto& [key, line] = *at;
    const std::optional<std::string> name = parse_name(key.substr(prefix.size()));
    if (!name) {
      fail(line, fill("the last part of the key is no name: key={}", quote(key)));
    }
    taken.push_back({.key = key, .name = *name, .line = line});
  }
  return taken;
}

int FactReader::read_count(const std::string& key, int max) {
  const std::optional<Line> line = take(key);
  int count = 0;
  if (line && (parse_value(line->value, count) || count > max)) {
    fail_value(key, *line, fill("an integer from 0 to {}", max));
  }
  return count;
}

void FactReader::require_all_read() const {
  if (lines_.empty()) {
    return;
  }
  const auto& [key, line] = *std::min_element(
      lines_.begin(), lines_.end(),
      [](const auto& a, const auto& b) { return a.second.number < b.second.number; });
  fail(line, fill("no fact has this name: key={}", quote(key)));
}

std::optional<FactReader::Line> FactReader::take(const std::string& key) {
  const auto at = lines_.find(key);
  if (at == lines_.end()) {
    return std::nullopt;
  }
  const Line line = at->second;
  lines_.erase(at);
  return line;
}

void FactReader::fail(const Line& line, const std::string& what) const {
  throw BadFile(fill("[facts.parse] {}; correct {} line {}, or record it anew with "
                     "`fasttrain probe --record`",
                     what, quote(file_, 400), line.number),
                file_, line.offset);
}

void FactReader::fail_value(const std::string& key, const Line& line,
                            std::string_view expected) const {
  fail(line, fill("the value is of the wrong kind: {}={}, expected {}", key, quote(line.value),
                  expected));
}

}  // namespace libtrain
