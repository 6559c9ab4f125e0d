#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libtrain/core/text.hpp"
#include "libtrain/facts/fields.hpp"
#include "libtrain/facts/value_text.hpp"

namespace libtrain {

/// Writes known facts as `group.name = value` lines under the head line.
class FactWriter {
 public:
  FactWriter();

  template <class Facts>
  void write(std::string_view group, const Facts& facts) {
    visit_fields(facts, [&](std::string_view name, const auto& field) {
      write_field(std::string(group).append(".").append(name), field);
    });
  }

  template <class T>
  void write_field(const std::string& key, const std::optional<T>& field) {
    if (field) {
      write_line(key, format_value(*field));
    }
  }
  template <class T>
  void write_field(const std::string& key, const std::map<std::string, T>& field) {
    for (const auto& [name, value] : field) {
      write_line(std::string(key).append(".").append(format_name(name)), format_value(value));
    }
  }

  const std::string& text() const { return text_; }

 private:
  void write_line(const std::string& key, const std::string& value);

  std::string text_;
};

/// Takes the lines of a facts file apart and gives each to the one field that asks for it.
/// Every error is a BadFile that names the file, the line, the key and what was expected.
class FactReader {
 public:
  FactReader(std::string_view text, std::string file);

  template <class Facts>
  void read(std::string_view group, Facts& facts) {
    visit_fields(facts, [&](std::string_view name, auto& field) {
      read_field(std::string(group).append(".").append(name), field);
    });
  }

  template <class T>
  void read_field(const std::string& key, std::optional<T>& field) {
    if (const std::optional<Line> line = take(key)) {
      field.emplace();
      if (const Expected expected = parse_value(line->value, *field)) {
        fail_value(key, *line, *expected);
      }
    }
  }
  template <class T>
  void read_field(const std::string& key, std::map<std::string, T>& field) {
    for (const NamedLine& named : take_all(key + ".")) {
      T value{};
      if (const Expected expected = parse_value(named.line.value, value)) {
        fail_value(named.key, named.line, *expected);
      }
      if (!field.emplace(named.name, std::move(value)).second) {
        fail(named.line, "the key is given twice: key=" + quote(named.key));
      }
    }
  }
  /// A number of repeated groups; 0 when it is not given.
  int read_count(const std::string& key, int max);

  /// Throws for the first line nobody asked for.
  void require_all_read() const;

 private:
  struct Line {
    std::string_view value;
    int64_t number;  ///< from 1
    int64_t offset;  ///< of its first byte
  };

  struct NamedLine {
    std::string key;   ///< whole
    std::string name;  ///< what follows the prefix
    Line line;
  };

  std::optional<Line> take(const std::string& key);
  std::vector<NamedLine> take_all(const std::string& prefix);
  [[noreturn]] void fail(const Line& line, const std::string& what) const;
  [[noreturn]] void fail_value(const std::string& key, const Line& line,
                               std::string_view expected) const;

  std::string file_;
  std::map<std::string, Line, std::less<>> lines_;
};

/// A file that holds one group alone: its text, and the facts it says.
template <class Facts>
std::string format_group(std::string_view group, const Facts& facts) {
  FactWriter writer;
  writer.write(group, facts);
  return writer.text();
}
template <class Facts>
Facts parse_group(std::string_view group, std::string_view text, const std::string& file) {
  FactReader reader(text, file);
  Facts facts;
  reader.read(group, facts);
  reader.require_all_read();
  return facts;
}

}  // namespace libtrain
