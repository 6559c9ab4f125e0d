#pragma once

#include <cstdint>

#include "libtrain/core/api.hpp"
#include "libtrain/kernels/random.hpp"

namespace libtrain {

/// Where the running forward pass stands in the space of random numbers (docs/random.md).
struct RandomPosition {
  uint64_t seed = 0;
  uint32_t step = 0;          ///< global step
  uint32_t first_sample = 0;  ///< index in the global batch of this micro-batch's first sample
  uint32_t next_site = 0;     ///< number of the next random operation
};

/// Makes random operations of this thread draw from `position` until it ends; scopes nest.
class LT_API RandomScope {
 public:
  explicit RandomScope(const RandomPosition& position);
  ~RandomScope();
  RandomScope(const RandomScope&) = delete;
  RandomScope& operator=(const RandomScope&) = delete;
  RandomScope(RandomScope&&) = delete;
  RandomScope& operator=(RandomScope&&) = delete;

 private:
  RandomPosition* previous_;
  RandomPosition position_;
};

/// The stream of the next random operation; `sample` is that of the first sample. Inside a scope it
/// advances the site. Outside, it draws a fresh seed from ATen's default CPU generator, so that
/// torch::manual_seed() fixes it.
LT_API kernels::RandomStream next_random_stream();

}  // namespace libtrain
