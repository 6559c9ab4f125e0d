#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "examples/bert/model/classifier.hpp"
#include "examples/bert/options.hpp"
#include "libtrain/policy/schedule.hpp"
#include "libtrain/runtime/parameters.hpp"

namespace bert {

/// Turns off gradients of every parameter whose name fits one of the file-name patterns (`*`, `?`,
/// `[...]`). Throws InvalidOption for a pattern that fits none, and when nothing is left to train.
void freeze(Classifier& model, const std::vector<std::string>& patterns);

/// Parameter groups with weight decay on matrices only and, for `layer_decay` < 1, a learning rate
/// that falls by that factor with each layer below the classifier (Howard, Ruder 2018; Clark et al.
/// 2020).
libtrain::Parameters fine_tuning_groups(const Classifier& model, const TrainBertOptions& options);

/// Updates the run takes, for `batches` an epoch.
int64_t total_steps(const TrainBertOptions& options, int64_t batches);
/// Linear rise, then linear fall to zero at `steps`.
libtrain::Schedule schedule_of(const TrainBertOptions& options, int64_t steps);

}  // namespace bert
