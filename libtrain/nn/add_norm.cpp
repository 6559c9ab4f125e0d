#include "libtrain/nn/add_norm.hpp"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <functional>

#include "libtrain/kernels/table.hpp"
#include "libtrain/nn/dropout.hpp"
#include "libtrain/nn/dropout_call.hpp"
#include "libtrain/nn/kernel_function.hpp"

namespace libtrain {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// A task. Gradients of weight and bias are summed in each block, then over the blocks in order.
constexpr int64_t kBlockRows = 16;

struct Call : DropoutCall {
  using DropoutCall::DropoutCall;
  double eps = 0.0;
  bool keep = false;  ///< for backward
  at::ScalarType input_dtype = at::kFloat;
};

int64_t rows_of(const at::Tensor& x) { return x.numel() / x.size(-1); }

int64_t blocks_of(int64_t rows) { return (rows + kBlockRows - 1) / kBlockRows; }

/// run(block, first row, args) for the parts of each block that lie in one sample.
template <class Run>
void for_each_block(int64_t rows, int64_t columns, const Call& call, const Run& run) {
  at::parallel_for(0, blocks_of(rows), 1, [&](int64_t first, int64_t last) {
    for (int64_t block = first; block < last; ++block) {
      const int64_t begin = block * kBlockRows * columns;
      const int64_t end = std::min((block + 1) * kBlockRows, rows) * columns;
      const auto part = [&](int64_t element, const kernels::DropoutArgs& dropout) {
        run(block, element / columns,
            {.rows = dropout.count / columns,
             .columns = columns,
             .eps = call.eps,
             .stream = dropout.stream,
             .first = dropout.first,
             .dropout = dropout.probability});
      };
      call.for_each_part(begin, end, part);
    }
  });
}

template <class T>
void forward(kernels::AddNormForward<T> kernel, const at::Tensor& input, const at::Tensor& residual,
             const at::Tensor& weight, const at::Tensor& bias, const at::Tensor& out,
             const at::Tensor& normalised, const at::Tensor& rstd, const Call& call) {
  const int64_t columns = input.size(-1);
  const auto* in = static_cast<const T*>(input.const_data_ptr());
  const auto* added = residual.const_data_ptr<float>();
  const auto* w = weight.const_data_ptr<float>();
  const auto* b = bias.const_data_ptr<float>();
  auto* to = out.mutable_data_ptr<float>();
  auto* x = call.keep ? normalised.mutable_data_ptr<float>() : nullptr;
  auto* factor = call.keep ? rstd.mutable_data_ptr<float>() : nullptr;
  for_each_block(rows_of(input), columns, call,
                 [&](int64_t, int64_t row, const kernels::AddNormArgs& args) {
                   const int64_t at = row * columns;
                   kernel(in + at, added + at, w, b, to + at, call.keep ? x + at : nullptr,
                          call.keep ? factor + row : nullptr, args);
                 });
}

struct Gradients {
  at::Tensor input;
  at::Tensor residual;
  at::Tensor blocks;  ///< [blocks, 2, columns]: of weight and bias, by each block's rows
};

template <class T>
void backward(kernels::AddNormBackward<T> kernel, const at::Tensor& grad_out,
              const at::Tensor& normalised, const at::Tensor& rstd, const at::Tensor& weight,
              const Gradients& to, const Call& call) {
  const int64_t columns = grad_out.size(-1);
  const auto* grad = grad_out.const_data_ptr<float>();
  const auto* x = normalised.const_data_ptr<float>();
  const auto* factor = rstd.const_data_ptr<float>();
  const auto* w = weight.const_data_ptr<float>();
  auto* grad_input = static_cast<T*>(to.input.mutable_data_ptr());
  auto* grad_residual = to.residual.mutable_data_ptr<float>();
  auto* sums = to.blocks.mutable_data_ptr<float>();
  for_each_block(rows_of(grad_out), columns, call,
                 [&](int64_t block, int64_t row, const kernels::AddNormArgs& args) {
                   const int64_t at = row * columns;
                   float* const grad_weight = sums + block * 2 * columns;
                   kernel(grad + at, x + at, factor + row, w, grad_input + at, grad_residual + at,
                          grad_weight, grad_weight + columns, args);
                 });
}

/// Over the first dimension, in order.
at::Tensor sum_in_order(const at::Tensor& blocks) {
  at::Tensor out = at::zeros({blocks.size(1), blocks.size(2)}, blocks.options());
  auto* sums = out.mutable_data_ptr<float>();
  const auto* block = blocks.const_data_ptr<float>();
  for (int64_t i = 0; i < blocks.size(0); ++i, block += out.numel()) {
    std::transform(sums, sums + out.numel(), block, sums, std::plus<>());
  }
  return out;
}

struct AddNorm : torch::autograd::Function<AddNorm> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& input,
                            const at::Tensor& residual, const at::Tensor& weight,
                            const at::Tensor& bias, const c10::intrusive_ptr<Call>& call) {
    const at::Tensor in = input.contiguous();
    const at::Tensor out = at::empty_like(in, at::kFloat);
    at::Tensor normalised;
    at::Tensor rstd;
    if (call->keep) {
      normalised = at::empty_like(out);
      rstd = at::empty({rows_of(in)}, out.options());
    }
    const auto run = [&](auto kernel) {
      libtrain::forward(kernel, in, residual.contiguous(), weight.contiguous(), bias.contiguous(),
                        out, normalised, rstd, *call);
    };
    if (in.scalar_type() == at::kFloat) {
      run(kernels::table().add_norm_forward_f32);
    } else {
      run(kernels::table().add_norm_forward_bf16);
    }
    context->save_for_backward({normalised, rstd, weight});
    save_call(*context, call);
    return out;
  }

  static variable_list backward(AutogradContext* context, const variable_list& grad_outputs) {
    refuse_second_derivative("nn.add_norm", "write norm(dropout(input, ...) + residual)");
    const auto call = saved_call<Call>(*context);
    const variable_list saved = context->get_saved_variables();
    const at::Tensor grad_out = grad_outputs[0].contiguous();
    const int64_t columns = grad_out.size(-1);
    const Gradients to{at::empty_like(grad_out, call->input_dtype), at::empty_like(grad_out),
                       at::zeros({blocks_of(rows_of(grad_out)), 2, columns}, grad_out.options())};
    const auto run = [&](auto kernel) {
      libtrain::backward(kernel, grad_out, saved[0], saved[1], saved[2].contiguous(), to, *call);
    };
    if (call->input_dtype == at::kFloat) {
      run(kernels::table().add_norm_backward_f32);
    } else {
      run(kernels::table().add_norm_backward_bf16);
    }
    const at::Tensor sums = sum_in_order(to.blocks);
    return {to.input, to.residual, sums[0], sums[1], at::Tensor()};
  }
};

bool is_own(const torch::nn::LayerNormImpl& norm, const at::Tensor& input,
            const at::Tensor& residual, double probability) {
  const auto plain = [](const at::Tensor& x) {
    return x.defined() && kernels_take(x) && x.scalar_type() == at::kFloat;
  };
  // A row of one dimension is many samples to dropout; with probability 1 there is none to keep.
  return kernels_take(input) && plain(residual) && plain(norm.weight) && plain(norm.bias) &&
         input.dim() >= 2 && input.size(-1) > 0 && input.sizes() == residual.sizes() &&
         norm.weight.sizes() == input.sizes().slice(input.dim() - 1) && probability < 1.0;
}

}  // namespace

at::Tensor add_norm(const torch::nn::LayerNormImpl& norm, const at::Tensor& input,
                    const at::Tensor& residual, double probability, bool training,
                    const PackedLayoutPtr& layout) {
  check_dropout(input, probability, layout);
  const double dropped = training ? probability : 0.0;
  if (!is_own(norm, input, residual, dropped)) {
    return at::layer_norm(dropout(input, probability, training, layout) + residual,
                          norm.options.normalized_shape(), norm.weight, norm.bias,
                          norm.options.eps());
  }
  auto call = c10::make_intrusive<Call>(input, layout, dropped);
  call->eps = norm.options.eps();
  call->keep =
      at::GradMode::is_enabled() && (input.requires_grad() || residual.requires_grad() ||
                                     norm.weight.requires_grad() || norm.bias.requires_grad());
  call->input_dtype = input.scalar_type();
  return AddNorm::apply(input, residual, norm.weight, norm.bias, call);
}

}  // namespace libtrain
