#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libtrain/plan/options.hpp"

namespace bert {

enum class Task { kClassification, kRegression };

/// What the command line of train_bert says.
struct TrainBertOptions {
  std::string model;
  std::string train;
  std::string eval;
  std::string out;
  Task task = Task::kClassification;
  std::optional<int64_t> epochs;  ///< 3 when neither is given
  std::optional<int64_t> steps;
  int64_t batch = 32;
  int64_t accumulate = 1;
  double lr = 5e-5;
  double warmup = 0.1;  ///< below 1 a share of all steps, else a number of steps
  double weight_decay = 0.01;
  double clip = 1.0;  ///< 0: no clipping
  double layer_decay = 1.0;
  std::vector<std::string> freeze;
  int64_t max_length = 128;
  uint64_t seed = 0;
  std::optional<libtrain::PrecisionMode> precision;
  std::string simulate;  ///< a machine's facts; empty: this machine
  bool plan_only = false;
  bool eval_only = false;
  bool json = false;
};

/// Reads argv. Prints help or a usage error and returns the exit code instead of options when the
/// program should end there.
struct ParsedOptions {
  TrainBertOptions options;
  std::optional<int> exit_code;
};
ParsedOptions parse_options(int argc, const char* const* argv);

}  // namespace bert
