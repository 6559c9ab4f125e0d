#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Stream.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libtrain/core/api.hpp"
#include "libtrain/runtime/packed.hpp"

namespace libtrain {

/// Named tensors of some samples, with what splitting them into micro-batches needs. Stacked: the
/// first dimension of every tensor is the sample. Packed: token tensors hold the rows of all
/// samples one after another (PackedLayout), sample tensors one row a sample. Copies share the
/// tensors.
class LT_API Batch {
 public:
  using Fields = std::vector<std::pair<std::string, at::Tensor>>;

  Batch() = default;
  /// Throws InvalidOption when first dimensions differ or a name stands twice.
  static Batch stacked(Fields fields);
  static Batch packed(PackedLayout layout, Fields token_fields, Fields sample_fields);

  /// Throws InvalidOption that lists the names there are.
  const at::Tensor& at(std::string_view name) const;
  bool is_packed() const noexcept { return layout_ != nullptr; }
  /// Throws InvalidOption for a stacked batch.
  const PackedLayoutPtr& layout() const;

  int64_t samples() const noexcept { return samples_; }
  /// Index of the first sample in the global batch of this step: random numbers depend on it.
  int64_t first_sample() const noexcept { return first_sample_; }
  /// What the loss is a mean over: samples unless set_weights() said otherwise.
  double weight() const;
  /// One weight a sample, for example its valid tokens. Throws InvalidOption for a wrong count or a
  /// value that is negative or not finite.
  void set_weights(std::vector<double> per_sample);
  void set_first_sample(int64_t index) noexcept { first_sample_ = index; }

  /// `parts` contiguous pieces whose sample counts differ by at most one, larger ones first; never
  /// an empty piece, so fewer pieces when there are fewer samples.
  std::vector<Batch> split(int64_t parts) const;
  Batch slice(int64_t first, int64_t count) const;
  Batch to(at::Device device, bool non_blocking = false) const;
  /// The same in pinned memory of the process's accelerator, from which copies need no wait.
  Batch pin_memory() const;
  /// Keeps the tensors' memory from others until what `stream` was given so far is done.
  void record_stream(const c10::Stream& stream) const;

 private:
  struct Field {
    std::string name;
    at::Tensor tensor;
    bool per_token = false;
  };

  void add(Fields fields, bool per_token, int64_t rows);

  std::vector<Field> fields_;
  PackedLayoutPtr layout_;
  int64_t samples_ = 0;
  int64_t first_sample_ = 0;
  std::vector<double> weights_;
};

}  // namespace libtrain
