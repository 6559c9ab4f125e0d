#pragma once

#include <c10/core/Device.h>
#include <c10/core/Event.h>
#include <c10/core/Stream.h>

#include <iterator>
#include <optional>

#include "libtrain/core/api.hpp"
#include "libtrain/data/data_loader.hpp"
#include "libtrain/runtime/runtime.hpp"

namespace libtrain {

/// The batches of an epoch on the runtime's device. While one is used the next is on its way:
/// copied from pinned memory on a stream of its own, which the thread's current stream waits for
/// when the batch is taken, so that the host never waits. Where the plan has no pinned memory, each
/// copy is waited for. On the CPU the batches as they are. A single pass: begin() once.
class LT_API DeviceBatches {
 public:
  DeviceBatches(EpochBatches epoch, const Runtime& runtime);

  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Batch;
    using difference_type = std::ptrdiff_t;
    using pointer = const Batch*;
    using reference = const Batch&;

    reference operator*() const { return batch_; }
    pointer operator->() const { return &batch_; }
    LT_API Iterator& operator++();
    friend bool operator==(const Iterator& a, std::default_sentinel_t) { return a.done_; }

   private:
    friend class DeviceBatches;
    LT_API explicit Iterator(const DeviceBatches& batches);
    void start_copy();
    void take();

    EpochBatches::Iterator source_;
    at::Device device_;
    std::optional<c10::Stream> copy_stream_;  ///< none on the CPU and without pinned memory
    std::optional<c10::Event> copied_;
    std::optional<Batch> coming_;
    Batch batch_;
    bool done_ = false;
  };

  Iterator begin() const { return Iterator(*this); }
  std::default_sentinel_t end() const { return {}; }
  /// Number of batches.
  int64_t size() const { return epoch_.size(); }

 private:
  EpochBatches epoch_;
  at::Device device_;
  bool pinned_;
};

}  // namespace libtrain
