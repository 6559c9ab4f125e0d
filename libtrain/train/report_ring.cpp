#include "libtrain/train/report_ring.hpp"

#include <ATen/ops/empty.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include "libtrain/core/require.hpp"

namespace libtrain {

ReportRing::ReportRing(at::Device device, int64_t rows) : device_(device) {
  slots_.resize(static_cast<size_t>(rows));
  for (Slot& slot : slots_) {
    slot.row = at::empty({kColumns},
                         at::TensorOptions().dtype(at::kFloat).pinned_memory(!device.is_cpu()));
    if (!device.is_cpu()) {
      slot.copied.emplace(device.type());
    }
  }
}

void ReportRing::push(int64_t step, const at::Tensor& row) {
  Slot& slot = slot_of(step);
  if (slot.copied && slot.step >= 0 && !slot.copied->query()) {
    slot.copied->synchronize();  // the host is as many steps ahead as there are rows
  }
  slot.step = step;
  slot.row.copy_(row, /*non_blocking=*/true);
  if (slot.copied) {
    slot.copied->record(c10::impl::VirtualGuardImpl(device_.type()).getStream(device_));
  }
}

StepValues ReportRing::values_of(const Slot& slot) {
  const float* value = slot.row.const_data_ptr<float>();
  return {.step = slot.step,
          .applied = value[0] != 0.0F,
          .loss = value[1],
          .grad_norm = value[2],
          .lr_factor = value[3],
          .loss_scale = value[4],
          .skipped_in_row = static_cast<int64_t>(value[5])};
}

StepValues ReportRing::wait(int64_t step) {
  const Slot& slot = slot_of(step);
  require(step >= 0 && slot.step == step,
          "[report.wait] step={}, expected one of the last {} steps; read values sooner", step,
          slots_.size());
  if (slot.copied) {
    slot.copied->synchronize();
  }
  return values_of(slot);
}

std::optional<StepValues> ReportRing::newest() {
  const Slot* newest = nullptr;
  for (const Slot& slot : slots_) {
    const bool known = slot.step >= 0 && (!slot.copied || slot.copied->query());
    if (known && (newest == nullptr || slot.step > newest->step)) {
      newest = &slot;
    }
  }
  return newest == nullptr ? std::nullopt : std::optional(values_of(*newest));
}

}  // namespace libtrain
