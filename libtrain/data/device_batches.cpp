#include "libtrain/data/device_batches.hpp"

#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <utility>

namespace libtrain {

DeviceBatches::DeviceBatches(EpochBatches epoch, const Runtime& runtime)
    : epoch_(std::move(epoch)),
      device_(runtime.device()),
      pinned_(runtime.plan().pinned_memory.value) {}

DeviceBatches::Iterator::Iterator(const DeviceBatches& batches)
    : source_(batches.epoch_.begin()), device_(batches.device_) {
  if (!device_.is_cpu() && batches.pinned_) {
    copy_stream_ = c10::impl::VirtualGuardImpl(device_.type()).getStreamFromGlobalPool(device_);
    copied_.emplace(device_.type());
  }
  start_copy();
  take();
}

DeviceBatches::Iterator& DeviceBatches::Iterator::operator++() {
  take();
  return *this;
}

/// Sends off the batch the source is at.
void DeviceBatches::Iterator::start_copy() {
  if (source_ == std::default_sentinel) {
    coming_.reset();
    return;
  }
  if (copy_stream_) {
    const c10::StreamGuard on_copy_stream(*copy_stream_);
    coming_ = source_->pin_memory().to(device_, /*non_blocking=*/true);
    copied_->record(*copy_stream_);
  } else {
    coming_ = source_->to(device_);
  }
}

/// Hands over the batch on its way and sends off the one after it.
void DeviceBatches::Iterator::take() {
  done_ = !coming_;
  if (done_) {
    return;
  }
  batch_ = *std::exchange(coming_, std::nullopt);
  if (copy_stream_) {
    const c10::Stream current = c10::impl::VirtualGuardImpl(device_.type()).getStream(device_);
    copied_->block(current);
    batch_.record_stream(current);
  }
  ++source_;
  start_copy();
}

}  // namespace libtrain
