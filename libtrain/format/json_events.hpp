#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "libtrain/format/json.hpp"

namespace libtrain::format {

/// Hears the parts of a JSON text in their order, each with the byte offset at which it starts.
/// What it throws ends the parse.
class JsonEvents {
 public:
  JsonEvents() = default;
  virtual ~JsonEvents() = default;
  JsonEvents(const JsonEvents&) = delete;
  JsonEvents& operator=(const JsonEvents&) = delete;
  JsonEvents(JsonEvents&&) = delete;
  JsonEvents& operator=(JsonEvents&&) = delete;

  virtual void begin_object(int64_t offset) = 0;
  virtual void begin_array(int64_t offset) = 0;
  virtual void key(std::string text, int64_t offset) = 0;
  virtual void scalar(Json value, int64_t offset) = 0;
  /// The innermost open object or array is complete.
  virtual void end() = 0;
};

/// Parses with the strictness and the errors of parse_json(), without building a tree: memory grows
/// only by the keys of the open objects. `start` is the offset of `text` in the file and is added
/// to every offset.
void parse_json_events(std::string_view text, const std::string& name, int64_t start,
                       JsonEvents& events);

}  // namespace libtrain::format
