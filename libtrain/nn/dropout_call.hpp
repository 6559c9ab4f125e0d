#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/custom_class.h>

#include <algorithm>

#include "libtrain/kernels/dropout.hpp"
#include "libtrain/runtime/packed.hpp"

namespace libtrain {

/// Throws InvalidOption for a probability outside [0, 1] or a layout of other rows than the
/// input's.
void check_dropout(const at::Tensor& input, double probability, const PackedLayoutPtr& layout);

/// One use of dropout by counter: the stream its numbers come from, and where the samples begin in
/// the flat order of a tensor's elements.
class DropoutCall : public torch::CustomClassHolder {
 public:
  /// Takes the next site, unless `probability` is 0. Throws InvalidOption for a sample of more
  /// elements than the stream has.
  DropoutCall(const at::Tensor& input, PackedLayoutPtr layout, double probability);

  /// run(begin, args) for each part of the elements [begin, end) that lies in one sample.
  template <class Run>
  void for_each_part(int64_t begin, int64_t end, const Run& run) const {
    int64_t sample = containing(begin);
    for (int64_t element = begin; element < end; ++sample) {
      const int64_t stop = std::min(end, first_of(sample + 1));
      if (element < stop) {
        run(element, part_of(sample, element, stop));
      }
      element = stop;
    }
  }

 private:
  int64_t containing(int64_t element) const;
  int64_t first_of(int64_t sample) const;
  kernels::DropoutArgs part_of(int64_t sample, int64_t begin, int64_t end) const;

  PackedLayoutPtr layout_;
  int64_t unit_;  // elements of a row, or of a sample when there is no layout
  double probability_;
  kernels::RandomStream stream_ = {};
};

}  // namespace libtrain
