#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "libtrain/format/json.hpp"

namespace benchmarks {

using libtrain::format::Json;

/// Figures that every side must agree on: losses, checksums.
using Values = std::vector<double>;

/// One workload in one tool. `verify` takes so many steps from the start with dropout off;
/// `repeat` is what is timed, numbered from 0; `before_repeat`, if any, is not.
struct Work {
  Json flags;
  std::function<Values(int64_t steps)> verify;
  std::function<Values(int64_t number)> repeat;
  std::function<void()> before_repeat{};
};

/// The main function of a worker, which speaks what benchmarks/peers/protocol.py describes: makes
/// the work out of the settings in argv[1] and serves requests until stdin ends.
int serve(int argc, char** argv, const std::function<Work(const Json& settings)>& make);

}  // namespace benchmarks
