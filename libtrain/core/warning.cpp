#include "libtrain/core/warning.hpp"

#include <mutex>
#include <utility>

namespace libtrain {
namespace {

struct Hook {
  std::mutex mutex;
  WarningHandler handler;
};

Hook& hook() {
  static Hook instance;
  return instance;
}

}  // namespace

WarningHandler set_warning_handler(WarningHandler handler) {
  const std::lock_guard lock(hook().mutex);
  return std::exchange(hook().handler, std::move(handler));
}

void warn(const std::string& message) noexcept {
  try {
    WarningHandler handler;
    {
      const std::lock_guard lock(hook().mutex);
      handler = hook().handler;
    }
    if (handler) {
      handler(message);
    }
  } catch (...) {  // a failing sink must not end a training run
  }
}

}  // namespace libtrain
