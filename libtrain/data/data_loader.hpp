#pragma once

#include <cstdint>
#include <iterator>
#include <vector>

#include "libtrain/core/api.hpp"
#include "libtrain/data/dataset.hpp"

namespace libtrain {

struct DataLoaderOptions {
  int64_t batch_size = 1;
  bool shuffle = false;
  bool drop_last = false;  ///< leave out a last batch smaller than batch_size
  uint64_t seed = 0;       ///< of the shuffling; each epoch has an order of its own
};

/// A random order of 0 .. count-1: a function of seed and epoch alone (Fisher and Yates's shuffle
/// over Philox numbers, docs/random.md).
LT_API std::vector<int64_t> random_order(int64_t count, uint64_t seed, int64_t epoch);

/// The batches of one epoch, made as they are asked for. A single pass: begin() once.
class LT_API EpochBatches {
 public:
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
    friend bool operator==(const Iterator& a, std::default_sentinel_t) { return a.done(); }

   private:
    friend class EpochBatches;
    explicit Iterator(const EpochBatches& epoch) : epoch_(&epoch) { load(); }
    bool done() const { return index_ >= epoch_->size(); }
    LT_API void load();

    const EpochBatches* epoch_;
    int64_t index_ = 0;
    Batch batch_;
  };

  Iterator begin() const { return Iterator(*this); }
  std::default_sentinel_t end() const { return {}; }
  /// Number of batches.
  int64_t size() const;

 private:
  friend class DataLoader;
  EpochBatches(const Dataset& dataset, std::vector<int64_t> order, int64_t batch_size,
               bool drop_last);

  const Dataset& dataset_;
  std::vector<int64_t> order_;
  int64_t batch_size_;
  bool drop_last_;
};

/// Goes through a dataset in batches.
class LT_API DataLoader {
 public:
  /// The dataset must outlive the loader. Throws InvalidOption for batch_size < 1, an empty
  /// dataset, and drop_last with fewer samples than one batch.
  DataLoader(const Dataset& dataset, const DataLoaderOptions& options);

  /// Batches an epoch.
  int64_t size() const;
  EpochBatches epoch(int64_t number) const;

 private:
  const Dataset& dataset_;
  DataLoaderOptions options_;
};

}  // namespace libtrain
