#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "libtrain/core/api.hpp"
#include "libtrain/policy/schedule.hpp"

namespace libtrain {

/// The schedule as a table on the device, so that the device itself picks the factor of the update
/// it is at: after skipped steps the host does not know which that is.
class LT_API LrTable {
 public:
  LrTable(const Schedule& schedule, at::Device device) : schedule_(schedule), device_(device) {}

  /// fp32 []: the factor for `applied_steps` (int64 [] on the device), which is at most `steps`.
  at::Tensor factor(const at::Tensor& applied_steps, int64_t steps);

 private:
  Schedule schedule_;
  at::Device device_;
  at::Tensor table_;  ///< fp32 [n], made longer when a run outgrows it
};

}  // namespace libtrain
