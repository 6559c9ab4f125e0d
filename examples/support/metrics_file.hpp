#pragma once

#include <cstdio>
#include <memory>
#include <string>

#include "libtrain/format/json.hpp"

namespace examples {

/// A file of JSON lines, one an event, each written whole as it happens.
class MetricsFile {
 public:
  /// Starts the file anew. Throws BadFile (kOutput).
  explicit MetricsFile(std::string path);

  /// Throws BadFile (kOutput) when the line cannot be written, for example on a full disk.
  void write(const libtrain::format::Json& row);

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace examples
