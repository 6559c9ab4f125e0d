#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Event.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "libtrain/core/api.hpp"
#include "libtrain/train/report.hpp"

namespace libtrain {

/// The values of the latest steps on their way from the device to the host. A row is copied
/// asynchronously into pinned memory and counts as known once its event has passed, so reading the
/// newest known row never waits.
class LT_API ReportRing {
 public:
  static constexpr int64_t kColumns = 6;

  explicit ReportRing(at::Device device, int64_t rows = 16);

  /// `row`: fp32 [kColumns] on the device, the fields of StepValues after `step` in their order.
  void push(int64_t step, const at::Tensor& row);
  /// The values of `step`, waiting for the device if need be. Throws InvalidOption for a step that
  /// is not among the last `rows`.
  StepValues wait(int64_t step);
  /// The newest row that is here already; nothing before the first.
  std::optional<StepValues> newest();

 private:
  struct Slot {
    int64_t step = -1;
    at::Tensor row;                    ///< fp32 [kColumns], pinned where the device is not the CPU
    std::optional<c10::Event> copied;  ///< passed once `row` is here; none on the CPU
  };

  static StepValues values_of(const Slot& slot);
  Slot& slot_of(int64_t step) { return slots_[static_cast<size_t>(step) % slots_.size()]; }

  at::Device device_;
  std::vector<Slot> slots_;
};

}  // namespace libtrain
