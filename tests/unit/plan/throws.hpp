#pragma once

#include <gtest/gtest.h>

#include <string>

namespace libtrain {

/// The message of the `E` that `action` throws; fails the test when it throws none.
template <class E, class Action>
std::string message_of(Action&& action) {
  try {
    action();
  } catch (const E& error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

}  // namespace libtrain
