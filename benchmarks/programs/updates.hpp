#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "benchmarks/programs/worker.hpp"

namespace benchmarks {

/// Clipping to this norm and AdamW with this learning rate; torch's other defaults.
inline constexpr double kClipNorm = 1.0;
inline constexpr double kLearningRate = 1e-3;

/// Work that is updates of BERT-base's parameters alone. `Updates` is made from the file of their
/// shapes; step() returns the norm before clipping, size() the parameters' sum of magnitudes.
/// Settings: shapes, steps.
template <class Updates>
Work update_work(const Json& settings, Json flags) {
  const std::string shapes = settings.at("shapes");
  const auto steps_a_repeat = settings.at("steps").get<int64_t>();
  const auto timed = std::make_shared<std::unique_ptr<Updates>>();

  return {.flags = std::move(flags),
          .verify =
              [=](int64_t steps) {
                Updates fresh(shapes);
                const double norm = fresh.step();
                for (int64_t step = 1; step < steps; ++step) {
                  fresh.step();
                }
                return Values{norm, fresh.size()};
              },
          .repeat =
              [=](int64_t) {
                if (*timed == nullptr) {
                  *timed = std::make_unique<Updates>(shapes);
                }
                for (int64_t step = 0; step < steps_a_repeat; ++step) {
                  (*timed)->step();
                }
                return Values{};
              }};
}

}  // namespace benchmarks
