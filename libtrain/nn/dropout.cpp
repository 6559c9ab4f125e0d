#include "libtrain/nn/dropout.hpp"

#include <ATen/Parallel.h>
#include <ATen/core/custom_class.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/native_dropout.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>

#include "libtrain/core/require.hpp"
#include "libtrain/kernels/table.hpp"
#include "libtrain/runtime/random_scope.hpp"

namespace libtrain {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Elements a thread takes at least: about 10 us of work.
constexpr int64_t kGrain = 16384;
/// Samples have at most this many elements: kernels::DropoutArgs.
constexpr int64_t kMaxSampleElements = int64_t{1} << 34;

/// Where samples begin in the flat order of elements.
class Samples {
 public:
  Samples(const at::Tensor& input, PackedLayoutPtr layout)
      : layout_(std::move(layout)),
        unit_(input.dim() == 0 || input.size(0) == 0 ? 1 : input.numel() / input.size(0)) {}

  int64_t containing(int64_t element) const {
    const int64_t row = element / unit_;
    if (layout_ == nullptr) {
      return row;
    }
    const auto& offsets = layout_->offsets();
    return std::upper_bound(offsets.begin(), offsets.end(), row) - offsets.begin() - 1;
  }
  int64_t begin(int64_t sample) const {
    return unit_ * (layout_ == nullptr ? sample : layout_->begin(sample));
  }
  int64_t largest() const { return unit_ * (layout_ == nullptr ? 1 : layout_->longest()); }

 private:
  PackedLayoutPtr layout_;
  int64_t unit_;  // elements of a row, or of a sample when there is no layout
};

struct Call : torch::CustomClassHolder {
  Call(const Samples& samples, double probability)
      : samples(samples), probability(probability), stream(next_random_stream()) {}
  Samples samples;
  double probability;
  kernels::RandomStream stream;
};

template <class T, class Kernel>
void mask(Kernel kernel, const at::Tensor& in, const at::Tensor& out, const Call& call) {
  const auto* from = static_cast<const T*>(in.const_data_ptr());
  auto* to = static_cast<T*>(out.mutable_data_ptr());
  at::parallel_for(0, in.numel(), kGrain, [&](int64_t begin, int64_t end) {
    int64_t sample = call.samples.containing(begin);
    for (int64_t element = begin; element < end; ++sample) {
      const int64_t stop = std::min(end, call.samples.begin(sample + 1));
      kernels::DropoutArgs args;
      args.stream = call.stream;
      args.stream.sample += static_cast<uint32_t>(sample);
      args.first = element - call.samples.begin(sample);
      args.count = stop - element;
      args.probability = call.probability;
      kernel(from + element, to + element, args);
      element = stop;
    }
  });
}

at::Tensor masked(const at::Tensor& input, const Call& call) {
  const at::Tensor in = input.contiguous();
  at::Tensor out = at::empty_like(in);
  if (in.scalar_type() == at::kFloat) {
    mask<float>(kernels::table().dropout_f32, in, out, call);
  } else {
    mask<kernels::BFloat16>(kernels::table().dropout_bf16, in, out, call);
  }
  return out;
}

struct CounterDropout : torch::autograd::Function<CounterDropout> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& input,
                            const c10::intrusive_ptr<Call>& call) {
    context->saved_data["call"] = c10::IValue::make_capsule(call);
    return masked(input, *call);
  }

  static variable_list backward(AutogradContext* context, const variable_list& grad_outputs) {
    const auto call =
        c10::static_intrusive_pointer_cast<Call>(context->saved_data.at("call").toCapsule());
    return {CounterDropout::apply(grad_outputs[0], call), at::Tensor()};
  }
};

}  // namespace

at::Tensor dropout(const at::Tensor& input, double probability, bool training,
                   const PackedLayoutPtr& layout) {
  require(probability >= 0.0 && probability <= 1.0,
          "[nn.dropout] invalid option: probability={}, expected [0, 1]", probability);
  require(layout == nullptr || (input.dim() > 0 && input.size(0) == layout->rows()),
          "[nn.dropout] rows do not match the layout: input.size(0)={}, expected {}",
          input.dim() > 0 ? input.size(0) : 0, layout == nullptr ? 0 : layout->rows());
  if (!training || probability == 0.0) {
    return input;
  }
  const bool own =
      input.is_cpu() && (input.scalar_type() == at::kFloat || input.scalar_type() == at::kBFloat16);
  if (!own) {
    return std::get<0>(at::native_dropout(input, probability, /*train=*/true));
  }
  const Samples samples(input, layout);
  require(samples.largest() <= kMaxSampleElements,
          "[nn.dropout] sample too large: elements={}, expected at most {}", samples.largest(),
          kMaxSampleElements);
  return CounterDropout::apply(input, c10::make_intrusive<Call>(samples, probability));
}

}  // namespace libtrain
