#pragma once

#include <cstdint>
#include <span>

#include "libtrain/runtime/batch.hpp"

namespace libtrain {

/// Samples by index, and how some of them become a batch.
class Dataset {
 public:
  virtual ~Dataset() = default;
  Dataset() = default;
  Dataset(const Dataset&) = delete;
  Dataset& operator=(const Dataset&) = delete;
  Dataset(Dataset&&) = delete;
  Dataset& operator=(Dataset&&) = delete;

  virtual int64_t size() const = 0;
  /// The batch of these samples, in this order, on the CPU.
  virtual Batch collate(std::span<const int64_t> indices) const = 0;
};

}  // namespace libtrain
