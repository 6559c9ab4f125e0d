#pragma once

#include <ATen/Parallel.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace libtrain {

/// Splits the elements of many tensors into chunks and runs them in one parallel region, each
/// thread with about the same number of elements. Chunk bounds do not depend on the number of
/// threads, so what a chunk computes does not either.
class ParallelChunks {
 public:
  explicit ParallelChunks(int64_t chunk_elements) : chunk_elements_(chunk_elements) {}

  void add_tensor(int64_t elements) {
    first_chunks_.push_back(chunk_count_);
    chunk_count_ += (elements + chunk_elements_ - 1) / chunk_elements_;
    begins_.push_back(ends_.empty() ? 0 : ends_.back());
    ends_.push_back(begins_.back() + elements);
  }

  int64_t count() const { return chunk_count_; }

  /// Calls run(tensor, first, count, chunk) for elements [first, first + count) of each tensor;
  /// `chunk` numbers the calls in tensor order.
  template <class Run>
  void run(const Run& run) const {
    if (chunk_count_ == 0) {
      return;
    }
    at::parallel_for(0, ends_.back(), kGrainElements, [&](int64_t begin, int64_t end) {
      auto tensor =
          static_cast<size_t>(std::upper_bound(ends_.begin(), ends_.end(), begin) - ends_.begin());
      // A thread runs the chunks that begin in its range.
      int64_t chunk = (begin - begins_[tensor] + chunk_elements_ - 1) / chunk_elements_;
      for (; tensor < ends_.size(); ++tensor, chunk = 0) {
        const int64_t elements = ends_[tensor] - begins_[tensor];
        for (; chunk * chunk_elements_ < elements; ++chunk) {
          const int64_t first = chunk * chunk_elements_;
          if (begins_[tensor] + first >= end) {
            return;
          }
          run(tensor, first, std::min(chunk_elements_, elements - first),
              first_chunks_[tensor] + chunk);
        }
      }
    });
  }

 private:
  /// Below this, starting threads costs more than it saves (a parallel region takes some 5 us).
  static constexpr int64_t kGrainElements = 32768;

  int64_t chunk_elements_;
  int64_t chunk_count_ = 0;
  std::vector<int64_t> begins_;
  std::vector<int64_t> ends_;
  std::vector<int64_t> first_chunks_;
};

}  // namespace libtrain
