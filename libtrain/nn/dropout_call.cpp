#include "libtrain/nn/dropout_call.hpp"

#include "libtrain/core/require.hpp"
#include "libtrain/runtime/random_scope.hpp"

namespace libtrain {
namespace {

/// Of a sample: kernels::DropoutArgs.
constexpr int64_t kMostElements = int64_t{1} << 34;

}  // namespace

void check_dropout(const at::Tensor& input, double probability, const PackedLayoutPtr& layout) {
  require(probability >= 0.0 && probability <= 1.0,
          "[nn.dropout] invalid option: probability={}, expected [0, 1]", probability);
  require(layout == nullptr || (input.dim() > 0 && input.size(0) == layout->rows()),
          "[nn.dropout] rows do not match the layout: input.size(0)={}, expected {}",
          input.dim() > 0 ? input.size(0) : 0, layout == nullptr ? 0 : layout->rows());
}

DropoutCall::DropoutCall(const at::Tensor& input, PackedLayoutPtr layout, double probability)
    : layout_(std::move(layout)),
      unit_(input.dim() == 0 || input.size(0) == 0 ? 1 : input.numel() / input.size(0)),
      probability_(probability) {
  if (probability_ == 0.0) {
    return;
  }
  const int64_t largest = unit_ * (layout_ == nullptr ? 1 : layout_->longest());
  require(largest <= kMostElements,
          "[nn.dropout] sample too large: elements={}, expected at most {}", largest,
          kMostElements);
  stream_ = next_random_stream();
}

int64_t DropoutCall::containing(int64_t element) const {
  const int64_t row = element / unit_;
  if (layout_ == nullptr) {
    return row;
  }
  const auto& offsets = layout_->offsets();
  return std::upper_bound(offsets.begin(), offsets.end(), row) - offsets.begin() - 1;
}

int64_t DropoutCall::first_of(int64_t sample) const {
  return unit_ * (layout_ == nullptr ? sample : layout_->begin(sample));
}

kernels::DropoutArgs DropoutCall::part_of(int64_t sample, int64_t begin, int64_t end) const {
  kernels::DropoutArgs args;
  args.stream = stream_;
  args.stream.sample += static_cast<uint32_t>(sample);
  args.first = begin - first_of(sample);
  args.count = end - begin;
  args.probability = probability_;
  return args;
}

}  // namespace libtrain
