#include "libtrain/facts/value_text.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "libtrain/core/text.hpp"

namespace libtrain {
namespace {

constexpr std::string_view kHex = "0123456789abcdef";

bool has_any(std::string_view text, std::string_view characters) {
  return text.find_first_of(characters) != std::string_view::npos;
}

bool all_shown(std::string_view text) {
  while (const size_t length = shown_length(text)) {
    text.remove_prefix(length);
  }
  return text.empty();
}

bool reads_back_bare(std::string_view text) {
  return !text.empty() && trim(text) == text && text.front() != '[' && !has_any(text, "\"\\") &&
         all_shown(text);
}

bool is_identifier(std::string_view text) {
  constexpr std::string_view kAllowed =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";
  return !text.empty() && text.find_first_not_of(kAllowed) == std::string_view::npos;
}

/// `also` holds characters that must not appear as themselves.
std::string as_quoted(std::string_view text, std::string_view also = "") {
  std::string out = "\"";
  while (!text.empty()) {
    const char c = text.front();
    const size_t length = shown_length(text);
    if (c == '"' || c == '\\') {
      out.append(1, '\\').push_back(c);
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (length == 0 || also.find(c) != std::string_view::npos) {
      out += escaped(c);
    } else {
      out.append(text.substr(0, length));
    }
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  out.push_back('"');
  return out;
}

/// Takes a quoted string off the front of `text`; nothing when it is malformed.
std::optional<std::string> take_quoted(std::string_view& text) {
  std::string out;
  for (size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '"') {
      text.remove_prefix(i + 1);
      return out;
    }
    if (text[i] != '\\') {
      out.push_back(text[i]);
      continue;
    }
    if (++i == text.size()) {
      return std::nullopt;
    }
    const char escape = text[i];
    if (escape == '"' || escape == '\\') {
      out.push_back(escape);
    } else if (escape == 'n') {
      out.push_back('\n');
    } else if (escape == 't') {
      out.push_back('\t');
    } else if (escape == 'x' && i + 2 < text.size()) {
      const size_t high = kHex.find(text[i + 1]);
      const size_t low = kHex.find(text[i + 2]);
      if (high == std::string_view::npos || low == std::string_view::npos) {
        return std::nullopt;
      }
      out.push_back(static_cast<char>(high * 16 + low));
      i += 2;
    } else {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

/// The whole text as one quoted string.
std::optional<std::string> unquote(std::string_view text) {
  std::optional<std::string> value = take_quoted(text);
  return text.empty() ? value : std::nullopt;
}

constexpr std::string_view kExpectedText =
    "text, in double quotes with \\\" \\\\ \\n \\t \\xNN where it holds quotes, backslashes or "
    "edge spaces";
constexpr std::string_view kExpectedList = "a list such as [sm_80, sm_90]";

}  // namespace

std::string format_value(const std::string& value) {
  return reads_back_bare(value) ? value : as_quoted(value);
}
std::string format_value(bool value) { return to_text(value); }
std::string format_value(int value) { return to_text(value); }
std::string format_value(int64_t value) { return to_text(value); }
std::string format_value(double value) { return to_text(value); }
std::string format_value(ComputeCapability value) { return to_text(value); }

std::string format_value(const std::vector<std::string>& values) {
  std::vector<std::string> items;
  items.reserve(values.size());
  for (const std::string& value : values) {
    items.push_back(reads_back_bare(value) && !has_any(value, ",]") ? value : as_quoted(value));
  }
  return fill("[{}]", join(items, ", "));
}

Expected parse_value(std::string_view text, std::string& value) {
  std::optional<std::string> parsed;
  if (text.starts_with('"')) {
    parsed = unquote(text);
  } else if (reads_back_bare(text)) {
    parsed = text;
  }
  if (!parsed) {
    return kExpectedText;
  }
  value = *parsed;
  return std::nullopt;
}

Expected parse_value(std::string_view text, bool& value) {
  if (text != "true" && text != "false") {
    return "true or false";
  }
  value = text == "true";
  return std::nullopt;
}

Expected parse_value(std::string_view text, int& value) {
  const std::optional<int64_t> parsed = parse_integer(text);
  if (!parsed || *parsed < 0 || *parsed > std::numeric_limits<int>::max()) {
    return "an integer from 0 to 2147483647";
  }
  value = static_cast<int>(*parsed);
  return std::nullopt;
}

Expected parse_value(std::string_view text, int64_t& value) {
  const std::optional<int64_t> parsed = parse_integer(text);
  if (!parsed || *parsed < 0) {
    return "an integer of at least 0";
  }
  value = *parsed;
  return std::nullopt;
}

Expected parse_value(std::string_view text, double& value) {
  const std::optional<double> parsed = parse_number(text);
  if (!parsed || !std::isfinite(*parsed) || *parsed < 0) {
    return "a finite number of at least 0";
  }
  value = *parsed;
  return std::nullopt;
}

Expected parse_value(std::string_view text, ComputeCapability& value) {
  const std::optional<ComputeCapability> parsed = parse_compute_capability(text);
  if (!parsed) {
    return "a compute capability such as 8.0";
  }
  value = *parsed;
  return std::nullopt;
}

Expected parse_value(std::string_view text, std::vector<std::string>& values) {
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') {
    return kExpectedList;
  }
  text = trim(text.substr(1, text.size() - 2));
  values.clear();
  while (!text.empty()) {
    if (text.front() == '"') {
      std::optional<std::string> item = take_quoted(text);
      if (!item) {
        return kExpectedList;
      }
      values.push_back(std::move(*item));
    } else {
      const size_t end = std::min(text.find(','), text.size());
      if (!reads_back_bare(trim(text.substr(0, end)))) {
        return kExpectedList;
      }
      values.emplace_back(trim(text.substr(0, end)));
      text.remove_prefix(end);
    }
    text = trim(text);
    if (text.empty()) {
      break;
    }
    if (text.front() != ',' || trim(text.substr(1)).empty()) {
      return kExpectedList;
    }
    text = trim(text.substr(1));
  }
  return std::nullopt;
}

std::string format_name(const std::string& name) {
  return is_identifier(name) ? name : as_quoted(name, "=");
}

std::optional<std::string> parse_name(std::string_view text) {
  if (text.starts_with('"')) {
    return unquote(text);
  }
  return is_identifier(text) ? std::optional<std::string>(text) : std::nullopt;
}

}  // namespace libtrain
