#include "libtrain/nn/direct_gradient.hpp"

#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/variable.h>

namespace libtrain {
namespace {

bool has_hooks(const at::Tensor& leaf) {
  namespace impl = torch::autograd::impl;
  if (!impl::hooks(leaf).empty() || impl::post_acc_grad_hooks(leaf) != nullptr) {
    return true;
  }
  const auto accumulator = impl::try_get_grad_accumulator(leaf);
  return accumulator != nullptr &&
         (!accumulator->post_hooks().empty() || !accumulator->tensor_pre_hooks().empty() ||
          !accumulator->pre_hooks().empty());
}

}  // namespace

bool backward_ends_in_grad() {
  // The engine's list of wanted nodes is empty in backward(), not in autograd::grad().
  const auto* wanted = torch::autograd::get_current_graph_task_exec_info();
  return wanted != nullptr && wanted->empty() && !at::GradMode::is_enabled();
}

bool leave_gradient(const at::Tensor& leaf, const at::Tensor& gradient) {
  if (!leaf.is_leaf() || leaf.grad().defined() || !backward_ends_in_grad() || has_hooks(leaf)) {
    return false;
  }
  leaf.mutable_grad() = gradient;
  return true;
}

}  // namespace libtrain
