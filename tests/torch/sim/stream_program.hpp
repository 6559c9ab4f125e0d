#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Stream.h>

#include <compare>
#include <random>
#include <string>
#include <vector>

#include "libtrain/sim/races.hpp"

namespace libtrain::sim::test {

/// The host, or one of a program's streams.
inline constexpr int kHost = -1;
inline constexpr int kStreams = 3;
/// Tensors differ in dtype, by which a report tells them apart; the last two are pinned.
inline constexpr int kTensors = 6;
inline constexpr int kPinned = 4;

struct Step {
  enum Kind {
    kUse,           ///< on `lane`: tensor `to` is filled, negated, or copied to from tensor `from`
    kWait,          ///< `lane` waits for an event recorded on `from`
    kSynchronize,   ///< the host waits for stream `from`
    kRecordStream,  ///< tensor `to` is used by stream `lane` too
    kReplace,       ///< tensor `to` is freed; another takes its place, of stream `lane`
  };
  Kind kind;
  int lane = kHost;
  int from = -1;
  int to = -1;
  bool is_fill = false;

  /// It orders something: what a program may be robbed of.
  bool orders() const { return kind == kWait || kind == kSynchronize || kind == kRecordStream; }
};

using StreamProgram = std::vector<Step>;

/// A race as two places, to compare what is found with what is there.
struct FoundRace {
  std::string earlier;
  std::string later;
  auto operator<=>(const FoundRace&) const = default;
};

/// All that could be reported at one step of a program: a race there is found when one of them is.
struct RacyStep {
  size_t step;
  int tensor;
  std::vector<FoundRace> races;
};

/// Every unordered pair of conflicting uses, by the definition: a graph of all that happens, and
/// whether a path leads from one to the other.
std::vector<RacyStep> brute_force_races(const StreamProgram& program);

/// A random program of `steps` uses with what orders them: no two conflicting uses are unordered.
StreamProgram correct_program(std::mt19937_64& random, int steps);

/// Runs it on the simulated device; what was reported.
std::vector<FoundRace> run(const StreamProgram& program, const std::vector<c10::Stream>& streams);

}  // namespace libtrain::sim::test
