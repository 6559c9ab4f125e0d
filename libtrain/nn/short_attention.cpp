#include "libtrain/nn/short_attention.hpp"

#include <ATen/Parallel.h>
#include <ATen/core/custom_class.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>

#include <algorithm>
#include <atomic>
#include <type_traits>
#include <vector>

#include "libtrain/core/require.hpp"
#include "libtrain/kernels/table.hpp"
#include "libtrain/nn/kernel_function.hpp"
#include "libtrain/runtime/random_scope.hpp"

namespace libtrain {
namespace {

using kernels::BFloat16;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// What backward must know beyond tensors.
struct Call : torch::CustomClassHolder {
  PackedLayoutPtr layout;
  int64_t heads = 0;
  double scale = 0.0;
  double dropout = 0.0;
  kernels::RandomStream stream;
};

at::Tensor with_dense_rows(const at::Tensor& tensor) {
  return tensor.stride(1) == 1 ? tensor : tensor.contiguous();
}

/// Calls body(sample, head, workspace) for every head of every non-empty sample, on all threads,
/// the longest samples first so that no thread is left with a long one at the end. Each thread
/// takes the next head when it is free; each call writes only its own part, so the split changes no
/// bit.
template <class Body>
void for_each_head(const Call& call, int64_t head_dim, const Body& body) {
  const PackedLayout& layout = *call.layout;
  std::vector<int64_t> order;
  for (int64_t sample = 0; sample < layout.samples(); ++sample) {
    if (layout.length(sample) > 0) {
      order.push_back(sample);
    }
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return layout.length(a) > layout.length(b); });
  const int64_t tasks = static_cast<int64_t>(order.size()) * call.heads;
  const int64_t workers = std::min<int64_t>(tasks, at::get_num_threads());
  const int64_t floats = kernels::attention_workspace(layout.longest(), head_dim);
  const at::Tensor workspace = at::empty({workers, floats}, at::kFloat);
  auto* scratch = workspace.mutable_data_ptr<float>();
  std::atomic<int64_t> next{0};
  at::parallel_for(0, workers, 1, [&](int64_t begin, int64_t end) {
    for (int64_t worker = begin; worker < end; ++worker) {
      for (int64_t task = next++; task < tasks; task = next++) {
        body(order[static_cast<size_t>(task / call.heads)], task % call.heads,
             scratch + worker * floats);
      }
    }
  });
}

kernels::AttentionArgs args_for(const Call& call, int64_t head_dim, int64_t sample, int64_t head) {
  kernels::AttentionArgs args;
  args.length = call.layout->length(sample);
  args.head_dim = head_dim;
  args.head = head;
  args.scale = call.scale;
  args.dropout = call.dropout;
  args.stream = call.stream;
  args.stream.sample += static_cast<uint32_t>(sample);
  return args;
}

/// First element of a head of a sample in a [rows, heads * head_dim] tensor.
template <class T>
const T* head_of(const at::Tensor& tensor, int64_t row, int64_t column) {
  return static_cast<const T*>(tensor.const_data_ptr()) + row * tensor.stride(0) + column;
}
template <class T>
T* mutable_head_of(const at::Tensor& tensor, int64_t row, int64_t column) {
  return static_cast<T*>(tensor.mutable_data_ptr()) + row * tensor.stride(0) + column;
}

template <class T>
kernels::AttentionForward<T> forward_kernel() {
  if constexpr (std::is_same_v<T, float>) {
    return kernels::table().attention_forward_f32;
  } else {
    return kernels::table().attention_forward_bf16;
  }
}
template <class T>
kernels::AttentionBackward<T> backward_kernel() {
  if constexpr (std::is_same_v<T, float>) {
    return kernels::table().attention_backward_f32;
  } else {
    return kernels::table().attention_backward_bf16;
  }
}

template <class T>
void run_forward(const Call& call, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                 const at::Tensor& out, const at::Tensor& log_sum_exp) {
  const int64_t head_dim = q.size(1) / call.heads;
  for_each_head(call, head_dim, [&](int64_t sample, int64_t head, float* workspace) {
    kernels::AttentionArgs args = args_for(call, head_dim, sample, head);
    args.q_stride = q.stride(0);
    args.k_stride = k.stride(0);
    args.v_stride = v.stride(0);
    args.out_stride = out.stride(0);
    const int64_t row = call.layout->begin(sample);
    const int64_t column = head * head_dim;
    forward_kernel<T>()(head_of<T>(q, row, column), head_of<T>(k, row, column),
                        head_of<T>(v, row, column), mutable_head_of<T>(out, row, column),
                        mutable_head_of<float>(log_sum_exp, head, row), workspace, args);
  });
}

template <class T>
void run_backward(const Call& call, const variable_list& saved, const at::Tensor& grad_out,
                  const variable_list& grads) {
  const at::Tensor& q = saved[0];
  const at::Tensor& k = saved[1];
  const at::Tensor& v = saved[2];
  const int64_t head_dim = q.size(1) / call.heads;
  for_each_head(call, head_dim, [&](int64_t sample, int64_t head, float* workspace) {
    kernels::AttentionArgs args = args_for(call, head_dim, sample, head);
    args.q_stride = q.stride(0);
    args.k_stride = k.stride(0);
    args.v_stride = v.stride(0);
    args.out_stride = grad_out.stride(0);
    args.grad_q_stride = grads[0].stride(0);
    args.grad_k_stride = grads[1].stride(0);
    args.grad_v_stride = grads[2].stride(0);
    const int64_t row = call.layout->begin(sample);
    const int64_t column = head * head_dim;
    backward_kernel<T>()(head_of<T>(q, row, column), head_of<T>(k, row, column),
                         head_of<T>(v, row, column), head_of<T>(saved[3], row, column),
                         head_of<float>(saved[4], head, row), head_of<T>(grad_out, row, column),
                         mutable_head_of<T>(grads[0], row, column),
                         mutable_head_of<T>(grads[1], row, column),
                         mutable_head_of<T>(grads[2], row, column), workspace, args);
  });
}

/// What both forms below do: outputs and saved tensors are the same, query, key and value come in
/// one tensor or in three.
at::Tensor forward_saving(AutogradContext* context, const at::Tensor& q, const at::Tensor& k,
                          const at::Tensor& v, const c10::intrusive_ptr<Call>& call) {
  const at::Tensor out = at::empty(q.sizes(), q.options());
  const at::Tensor log_sum_exp = at::empty({call->heads, q.size(0)}, q.options().dtype(at::kFloat));
  (q.scalar_type() == at::kFloat ? run_forward<float> : run_forward<BFloat16>)(*call, q, k, v, out,
                                                                               log_sum_exp);
  context->save_for_backward({q, k, v, out, log_sum_exp});
  save_call(*context, call);
  return out;
}

/// Fills the gradients of query, key and value, given as empty tensors.
void backward_into(AutogradContext* context, const at::Tensor& grad, const variable_list& grads) {
  refuse_second_derivative("nn.attention", "use AttentionForm::kPadded");
  const auto call = saved_call<Call>(*context);
  const variable_list saved = context->get_saved_variables();
  const at::Tensor grad_out = grad.contiguous();  // same rows as the saved output
  (grad_out.scalar_type() == at::kFloat ? run_backward<float>
                                        : run_backward<BFloat16>)(*call, saved, grad_out, grads);
}

struct ShortAttention : torch::autograd::Function<ShortAttention> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& query,
                            const at::Tensor& key, const at::Tensor& value,
                            const c10::intrusive_ptr<Call>& call) {
    return forward_saving(context, with_dense_rows(query), with_dense_rows(key),
                          with_dense_rows(value), call);
  }

  static variable_list backward(AutogradContext* context, const variable_list& grad_outputs) {
    const at::Tensor& grad = grad_outputs[0];
    variable_list grads;
    for (size_t i = 0; i < 3; ++i) {
      grads.push_back(at::empty(grad.sizes(), grad.options()));
    }
    backward_into(context, grad, grads);
    grads.emplace_back();
    return grads;
  }
};

struct ShortAttentionQkvPacked : torch::autograd::Function<ShortAttentionQkvPacked> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& qkv,
                            const c10::intrusive_ptr<Call>& call) {
    const std::vector<at::Tensor> parts = with_dense_rows(qkv).chunk(3, 1);
    return forward_saving(context, parts[0], parts[1], parts[2], call);
  }

  static variable_list backward(AutogradContext* context, const variable_list& grad_outputs) {
    const at::Tensor& grad = grad_outputs[0];
    const at::Tensor all = at::empty({grad.size(0), 3 * grad.size(1)}, grad.options());
    backward_into(context, grad, all.chunk(3, 1));
    return {all, at::Tensor()};
  }
};

c10::intrusive_ptr<Call> make_call(const PackedLayoutPtr& layout, int64_t heads, double scale,
                                   double dropout) {
  auto call = c10::make_intrusive<Call>();
  call->layout = layout;
  call->heads = heads;
  call->scale = scale;
  call->dropout = dropout;
  if (dropout > 0.0) {
    call->stream = next_random_stream();
  }
  return call;
}

}  // namespace

at::Tensor short_attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                           const PackedLayoutPtr& layout, int64_t heads, double scale,
                           double dropout) {
  return ShortAttention::apply(query, key, value, make_call(layout, heads, scale, dropout));
}

at::Tensor short_attention_qkvpacked(const at::Tensor& qkv, const PackedLayoutPtr& layout,
                                     int64_t heads, double scale, double dropout) {
  return ShortAttentionQkvPacked::apply(qkv, make_call(layout, heads, scale, dropout));
}

}  // namespace libtrain
