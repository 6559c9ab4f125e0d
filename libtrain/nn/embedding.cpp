#include "libtrain/nn/embedding.hpp"

#include <ATen/Parallel.h>
#include <ATen/core/custom_class.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_sparse_coo_tensor_unsafe.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/embedding_dense_backward.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "libtrain/core/require.hpp"
#include "libtrain/nn/direct_gradient.hpp"
#include "libtrain/nn/kernel_function.hpp"
#include "libtrain/runtime/gradient_forms.hpp"

namespace libtrain {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// The weight is needed for its gradient, not its values: an update between forward and backward is
/// no fault, so it is not saved as a variable.
struct Call : torch::CustomClassHolder {
  at::Tensor weight;
  int64_t padding_idx = -1;
  bool rows = false;  ///< the reader takes the touched rows
};

/// Adds the rows of `grad` that share an id, in their order: fp32 [n, width] -> coalesced sparse
/// [vocabulary, width].
at::Tensor summed_rows(const at::Tensor& grad, const at::Tensor& ids, const Call& call) {
  const auto* id = ids.const_data_ptr<int64_t>();
  std::vector<int64_t> order;
  for (int64_t row = 0; row < ids.numel(); ++row) {
    if (id[row] != call.padding_idx) {
      order.push_back(row);
    }
  }
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return id[a] < id[b]; });
  std::vector<size_t> starts;  // of each id's rows in `order`
  for (size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || id[order[i]] != id[order[i - 1]]) {
      starts.push_back(i);
    }
  }
  const auto unique = static_cast<int64_t>(starts.size());
  starts.push_back(order.size());

  const int64_t width = grad.size(1);
  at::Tensor indices = at::empty({1, unique}, at::kLong);
  at::Tensor values = at::empty({unique, width}, grad.options());
  auto* index = indices.mutable_data_ptr<int64_t>();
  auto* sums = values.mutable_data_ptr<float>();
  const auto* rows = grad.const_data_ptr<float>();
  at::parallel_for(0, unique, 16, [&](int64_t begin, int64_t end) {
    for (int64_t u = begin; u < end; ++u) {
      const auto first = starts[static_cast<size_t>(u)];
      const auto last = starts[static_cast<size_t>(u) + 1];
      index[u] = id[order[first]];
      std::copy_n(rows + order[first] * width, width, sums + u * width);
      for (size_t i = first + 1; i < last; ++i) {
        const float* row = rows + order[i] * width;
        std::transform(row, row + width, sums + u * width, sums + u * width, std::plus<>());
      }
    }
  });
  return at::_sparse_coo_tensor_unsafe(indices, values, call.weight.sizes(), grad.options(),
                                       /*is_coalesced=*/true);
}

/// Whether this gradient may be the touched rows: the engine is going to add it to a dense one, or
/// the reader takes rows.
bool ends_as_rows(const Call& call) {
  if (!backward_ends_in_grad()) {
    return false;
  }
  const at::Tensor& grad = call.weight.grad();
  return grad.defined() && grad.layout() == at::kStrided ? grad.scalar_type() == at::kFloat
                                                         : call.rows;
}

struct TouchedRowsEmbedding : torch::autograd::Function<TouchedRowsEmbedding> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& weight,
                            const at::Tensor& ids, const c10::intrusive_ptr<Call>& call) {
    context->save_for_backward({ids});
    save_call(*context, call);
    return at::embedding(weight, ids);
  }

  static variable_list backward(AutogradContext* context, const variable_list& grad_outputs) {
    const auto call = saved_call<Call>(*context);
    const at::Tensor ids = context->get_saved_variables()[0];
    const at::Tensor& grad = grad_outputs[0];
    if (ends_as_rows(*call)) {
      return {summed_rows(grad.contiguous(), ids, *call), at::Tensor(), at::Tensor()};
    }
    return {at::embedding_dense_backward(grad, ids, call->weight.size(0), call->padding_idx,
                                         /*scale_grad_by_freq=*/false),
            at::Tensor(), at::Tensor()};
  }
};

}  // namespace

at::Tensor embedding(const at::Tensor& weight, const at::Tensor& ids,
                     std::optional<int64_t> padding_idx) {
  require(ids.dim() == 1 && ids.scalar_type() == at::kLong,
          "[nn.embedding] wrong ids: dim={}, dtype={}, expected int64 [n]", ids.dim(),
          c10::toString(ids.scalar_type()));
  const int64_t padding = padding_idx.value_or(-1);
  const bool touched_rows = weight.is_cpu() && weight.scalar_type() == at::kFloat &&
                            weight.is_leaf() && weight.requires_grad() && weight.dim() == 2 &&
                            ids.is_cpu() && at::GradMode::is_enabled();
  if (!touched_rows) {
    return at::embedding(weight, ids, padding);
  }
  auto call = c10::make_intrusive<Call>();
  call->weight = weight;
  call->padding_idx = padding;
  call->rows = gradient_forms().rows;
  return TouchedRowsEmbedding::apply(weight, ids.contiguous(), call);
}

}  // namespace libtrain
