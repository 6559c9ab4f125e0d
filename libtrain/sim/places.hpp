#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace libtrain::sim {

/// Where an operator was given: return addresses as they are, and for one that backward ran, those
/// of the operator that its node is of.
struct Frames {
  static constexpr int kMost = 32;

  std::array<void*, kMost> addresses;
  int count = 0;
  std::string node;                       ///< `MmBackward0`; empty outside backward
  std::shared_ptr<const Frames> forward;  ///< null where it isn't known
};

/// The calling thread's place; null while places are not recorded.
std::shared_ptr<const Frames> frames_here();

/// One line a frame, innermost first, without LibTorch's and this library's own: the function's
/// name where the program exports it, and file and offset as addr2line takes them.
std::vector<std::string> text_of(const Frames& frames);

}  // namespace libtrain::sim
