#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libtrain/core/api.hpp"

namespace libtrain::format {

/// An example of a text classification data set.
struct TsvRow {
  std::string label;
  std::string text;
  std::optional<std::string> second;  ///< of a pair of texts
};

/// Reads lines of `label<TAB>text` or `label<TAB>text<TAB>second`. There is no quoting: every other
/// byte is text. Lines end with LF or CRLF; a byte order mark at the start is skipped. Throws
/// BadFile (kContent) that names the line and its byte offset when there is no line at all, and for
/// a line without a tab or label, with more than two tabs, with a NUL byte or invalid UTF-8, or of
/// more than 10 MB. `name` stands for the path.
LT_API std::vector<TsvRow> parse_tsv(std::string_view contents, const std::string& name);

/// The rows of a file of at most 16 GiB. Throws BadFile.
LT_API std::vector<TsvRow> read_tsv(const std::string& path);

}  // namespace libtrain::format
