#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "libtrain/core/api.hpp"
#include "libtrain/core/error.hpp"
#include "libtrain/core/text.hpp"

namespace libtrain {

/// Throws `E` with `message` unless `condition` holds. Each `{}` in the message is replaced by the
/// next argument; arguments are turned into text only when the condition fails.
template <class E = InvalidOption, class... Args>
void require(bool condition, std::string_view message, const Args&... args) {
  if (condition) [[likely]] {
    return;
  }
  throw E(libtrain::fill(message, args...));
}

}  // namespace libtrain
