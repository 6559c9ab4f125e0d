#include "libtrain/format/tsv.hpp"

#include <algorithm>
#include <utility>

#include "libtrain/core/error.hpp"
#include "libtrain/core/file_system.hpp"
#include "libtrain/core/text.hpp"

namespace libtrain::format {
namespace {

constexpr size_t kMaxLineBytes = 10'000'000;
constexpr int64_t kMaxFileBytes = int64_t{1} << 34;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

struct Line {
  std::string_view text;
  size_t number = 0;  // from 1
  size_t offset = 0;
};

[[noreturn]] void fail(const std::string& file, const Line& line, std::string_view what,
                       std::string_view expected) {
  const auto offset = static_cast<int64_t>(line.offset);
  throw BadFile(
      fill("[tsv.read] {}: file={}, line={}, byte={}, text={}, expected {}; correct the line", what,
           quote(file, 400), line.number, offset, quote(line.text), expected),
      file, offset);
}

TsvRow parse_line(const Line& line, const std::string& file) {
  if (line.text.size() > kMaxLineBytes) {
    fail(file, line, "line is too long", fill("at most {} bytes", kMaxLineBytes));
  }
  if (line.text.find('\0') != std::string_view::npos) {
    fail(file, line, "line holds a NUL byte", "text");
  }
  if (!is_valid_utf8(line.text)) {
    fail(file, line, "line is not UTF-8", "UTF-8");
  }
  const std::vector<std::string_view> fields = split(line.text, '\t');
  if (fields.size() < 2) {
    fail(file, line, "line has no tab", "label<TAB>text");
  }
  if (fields.size() > 3) {
    fail(file, line, "line has too many tabs", "label<TAB>text<TAB>second text at most");
  }
  if (fields[0].empty()) {
    fail(file, line, "line has no label", "label<TAB>text");
  }
  TsvRow row{
      .label = std::string(fields[0]), .text = std::string(fields[1]), .second = std::nullopt};
  if (fields.size() == 3) {
    row.second = std::string(fields[2]);
  }
  return row;
}

}  // namespace

std::vector<TsvRow> parse_tsv(std::string_view contents, const std::string& name) {
  Line line;
  line.offset = contents.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  if (line.offset == contents.size()) {
    throw BadFile(fill("[tsv.read] file is empty: file={}, expected lines of label<TAB>text; check "
                       "that this is the intended file",
                       quote(name, 400)),
                  name, 0);
  }
  std::vector<TsvRow> rows;
  while (line.offset < contents.size()) {
    const size_t end = std::min(contents.find('\n', line.offset), contents.size());
    line.text = contents.substr(line.offset, end - line.offset);
    if (line.text.ends_with('\r')) {
      line.text.remove_suffix(1);
    }
    ++line.number;
    rows.push_back(parse_line(line, name));
    line.offset = end + 1;
  }
  return rows;
}

std::vector<TsvRow> read_tsv(const std::string& path) {
  return parse_tsv(read_file(path, kMaxFileBytes), path);
}

}  // namespace libtrain::format
