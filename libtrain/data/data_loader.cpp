#include "libtrain/data/data_loader.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <utility>

#include "libtrain/core/require.hpp"
#include "libtrain/kernels/random.hpp"

namespace libtrain {
namespace {

/// Last counter word of shuffling. Training steps count up from 0 in that word, so the two never
/// meet.
constexpr uint32_t kShuffleDomain = 0xFFFFFFFF;

int64_t batches_in(int64_t samples, int64_t batch_size, bool drop_last) {
  return drop_last ? samples / batch_size : (samples + batch_size - 1) / batch_size;
}

}  // namespace

std::vector<int64_t> random_order(int64_t count, uint64_t seed, int64_t epoch) {
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), int64_t{0});
  const std::array<uint32_t, 2> key = {static_cast<uint32_t>(seed),
                                       static_cast<uint32_t>(seed >> 32U)};
  for (size_t i = order.size(); i > 1; --i) {
    // 64 random bits against at most 2^63 places: a bias below count / 2^64 is none in practice.
    const auto words = kernels::philox4x32(
        {static_cast<uint32_t>(i), static_cast<uint32_t>(static_cast<uint64_t>(i) >> 32U),
         static_cast<uint32_t>(epoch), kShuffleDomain},
        key);
    const uint64_t number = words[0] | (static_cast<uint64_t>(words[1]) << 32U);
    std::swap(order[i - 1], order[number % i]);
  }
  return order;
}

EpochBatches::EpochBatches(const Dataset& dataset, std::vector<int64_t> order, int64_t batch_size,
                           bool drop_last)
    : dataset_(dataset), order_(std::move(order)), batch_size_(batch_size), drop_last_(drop_last) {}

int64_t EpochBatches::size() const {
  return batches_in(static_cast<int64_t>(order_.size()), batch_size_, drop_last_);
}

EpochBatches::Iterator& EpochBatches::Iterator::operator++() {
  ++index_;
  load();
  return *this;
}

void EpochBatches::Iterator::load() {
  if (done()) {
    return;
  }
  const std::span<const int64_t> order(epoch_->order_);
  const auto first = static_cast<size_t>(index_ * epoch_->batch_size_);
  const size_t count = std::min(static_cast<size_t>(epoch_->batch_size_), order.size() - first);
  batch_ = epoch_->dataset_.collate(order.subspan(first, count));
}

DataLoader::DataLoader(const Dataset& dataset, const DataLoaderOptions& options)
    : dataset_(dataset), options_(options) {
  require(options.batch_size >= 1, "[data.loader] batch_size={}, expected >= 1",
          options.batch_size);
  require(dataset.size() > 0, "[data.loader] the dataset is empty, expected at least one sample");
  require(
      size() > 0,
      "[data.loader] {} samples make no batch of {}; lower batch_size or set drop_last to false",
      dataset.size(), options.batch_size);
}

int64_t DataLoader::size() const {
  return batches_in(dataset_.size(), options_.batch_size, options_.drop_last);
}

EpochBatches DataLoader::epoch(int64_t number) const {
  std::vector<int64_t> order;
  if (options_.shuffle) {
    order = random_order(dataset_.size(), options_.seed, number);
  } else {
    order.resize(static_cast<size_t>(dataset_.size()));
    std::iota(order.begin(), order.end(), int64_t{0});
  }
  return {dataset_, std::move(order), options_.batch_size, options_.drop_last};
}

}  // namespace libtrain
