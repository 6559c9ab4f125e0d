#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Stream.h>

#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "libtrain/sim/races.hpp"

namespace libtrain::sim::test {

/// What a program with a bug runs on. `is_right` runs its corrected twin.
struct Setting {
  bool is_right;
  c10::Stream first, side, third;  ///< of sim:0; operators take `first` unless told otherwise
  c10::Stream other;               ///< of sim:1, beside its default stream

  /// On sim:0, sim:1 and in pinned memory: float, all 1.
  at::Tensor ones(at::IntArrayRef sizes) const;
  at::Tensor ones_of_other(at::IntArrayRef sizes) const;
  at::Tensor pinned(at::IntArrayRef sizes) const;
};

/// An operator and whose name its place bears: "first", "side", "third", "other" or "the host".
struct Use {
  std::string op;
  std::string where;
};

/// Two uses that nothing orders.
struct UnorderedUses {
  Hazard hazard;
  Use earlier, later;
};
/// The operator makes the host wait for `first` where that is forbidden.
struct ForbiddenWait {
  std::string op;
};
/// DeviceError with these words.
struct Refused {
  std::vector<std::string> words;
};

struct PlantedBug {
  const char* name;
  std::function<void(const Setting&)> run;
  std::variant<UnorderedUses, ForbiddenWait, Refused> expected;
};

std::vector<PlantedBug> bugs_between_streams();
std::vector<PlantedBug> bugs_of_pinned_memory();
std::vector<PlantedBug> bugs_of_waits_and_devices();

}  // namespace libtrain::sim::test
