#pragma once

#include <functional>
#include <string>

#include "libtrain/core/api.hpp"

namespace libtrain {

using WarningHandler = std::function<void(const std::string& message)>;

/// Where warnings go; the library itself never prints. Returns the handler that was there before.
/// Without a handler (the default) warnings are dropped. Thread-safe.
LT_API WarningHandler set_warning_handler(WarningHandler handler);

/// Hands `message` to the handler. Never throws: what a handler throws is dropped.
LT_API void warn(const std::string& message) noexcept;

}  // namespace libtrain
