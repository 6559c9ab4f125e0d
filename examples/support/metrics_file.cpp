#include "examples/support/metrics_file.hpp"

#include <cerrno>
#include <system_error>
#include <utility>

#include "libtrain/core/error.hpp"
#include "libtrain/core/text.hpp"

namespace examples {
namespace {

[[noreturn]] void fail(const std::string& path) {
  throw libtrain::BadFile(
      libtrain::fill("[metrics.write] {}: path={}; free space or check permissions",
                     std::generic_category().message(errno), libtrain::quote(path, 400)),
      path, -1, libtrain::FileFault::kOutput);
}

}  // namespace

MetricsFile::MetricsFile(std::string path)
    : path_(std::move(path)), file_(std::fopen(path_.c_str(), "we")) {
  if (file_ == nullptr) {
    fail(path_);
  }
}

void MetricsFile::write(const libtrain::format::Json& row) {
  const std::string line = row.dump() + '\n';
  if (std::fwrite(line.data(), 1, line.size(), file_.get()) != line.size() ||
      std::fflush(file_.get()) != 0) {
    fail(path_);
  }
}

}  // namespace examples
