// What this project relies on in LibTorch and what has drifted, or may, between 2.11 and 2.15. Each
// test compiles the signature and asks for the behaviour that the code here builds on. Where the
// two differ, libtrain/runtime/torch_compat.hpp is the one place that knows.
#include <ATen/Context.h>
#include <ATen/DeviceAccelerator.h>
#include <ATen/Parallel.h>
#include <ATen/ThreadLocalState.h>
#include <ATen/autocast_mode.h>
#include <ATen/core/CachingHostAllocator.h>
#include <ATen/ops/_amp_foreach_non_finite_check_and_unscale.h>
#include <ATen/ops/_amp_update_scale.h>
#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/_fused_sgd.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/zeros.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/saved_variable_hooks.h>
#include <torch/csrc/autograd/variable.h>
#include <torch/headeronly/version.h>

#include <limits>
#include <type_traits>
#include <vector>

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

static_assert(TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 11 && TORCH_VERSION_MINOR <= 15);

struct Twice : torch::autograd::Function<Twice> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& input) {
    context->save_for_backward({input});
    return input * 2;
  }
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    EXPECT_EQ(context->get_saved_variables().size(), 1U);
    return {gradients[0] * 2};
  }
};

TEST(Autograd, CustomFunctionsAndBothFormsOfBackward) {
  const at::Tensor leaf = at::ones({3}).requires_grad_();
  const at::Tensor output = Twice::apply(leaf).sum();
  const auto node =
      output.grad_fn();  // std::shared_ptr until 2.12, c10::intrusive_ptr from 2.13 on
  EXPECT_EQ(node->num_inputs(), 1U);
  const variable_list gradient = torch::autograd::grad({output}, {leaf}, {}, /*retain_graph=*/true);
  EXPECT_EQ(gradient.at(0).sum().item<double>(), 6);
  torch::autograd::backward({output});
  EXPECT_EQ(leaf.grad().sum().item<double>(), 6);
}

struct ClearGradient : torch::autograd::PostAccumulateGradHook {
  void operator()(const torch::autograd::Variable& leaf) override { leaf.mutable_grad().reset(); }
};

TEST(Autograd, HooksOnGradients) {
  const at::Tensor leaf = at::ones({2}).requires_grad_();
  const unsigned position =
      leaf.register_hook([](const at::Tensor& gradient) { return gradient * 3; });
  torch::autograd::backward({leaf.sum()});
  EXPECT_EQ(leaf.grad().sum().item<double>(), 6);
  leaf.remove_hook(position);
  torch::autograd::impl::set_post_acc_grad_hooks(leaf, std::make_unique<ClearGradient>());
  torch::autograd::backward({leaf.sum()});
  EXPECT_FALSE(leaf.grad().defined());
}

TEST(Autograd, TheEngineCanBeReplaced) {
  static_assert(std::has_virtual_destructor_v<torch::autograd::SavedVariableHooks>);
  static_assert(std::is_same_v<decltype(&torch::autograd::set_default_engine_stub),
                               void (*)(torch::autograd::EngineStub)>);
  const auto hooks =
      torch::autograd::Engine::get_default_engine().get_default_saved_variable_hooks();
  EXPECT_EQ(hooks, nullptr);
}

TEST(Autocast, StateIsReadAndWrittenPerDevice) {
  using namespace at::autocast;
  EXPECT_FALSE(is_autocast_enabled(at::kCPU));
  const at::ScalarType before = get_autocast_dtype(at::kCPU);
  const bool cached = is_autocast_cache_enabled();
  increment_nesting();
  set_autocast_enabled(at::kCPU, true);
  set_autocast_dtype(at::kCPU, at::kBFloat16);
  set_autocast_cache_enabled(false);
  EXPECT_EQ(cached_cast(at::kBFloat16, at::ones({1}), at::kCPU).scalar_type(), at::kBFloat16);
  const at::ThreadLocalStateGuard guard(at::ThreadLocalState{});
  set_autocast_cache_enabled(cached);
  set_autocast_dtype(at::kCPU, before);
  set_autocast_enabled(at::kCPU, false);
  EXPECT_EQ(decrement_nesting(), 0);
  clear_cache();
}

TEST(LossScale, UnscalesFindsInfinityAndMoves) {
  at::Tensor found = at::zeros({1});
  const std::vector<at::Tensor> gradients = {at::ones({2}), at::ones({2})};
  at::_amp_foreach_non_finite_check_and_unscale_(gradients, found, at::ones({1}) * 0.5);
  EXPECT_EQ(found.item<float>(), 0);
  EXPECT_EQ(gradients[1].sum().item<double>(), 1);
  gradients[1].fill_(std::numeric_limits<float>::infinity());
  at::_amp_foreach_non_finite_check_and_unscale_(gradients, found, at::ones({1}));
  EXPECT_EQ(found.item<float>(), 1);
  at::Tensor scale = at::ones({1}) * 8;
  at::Tensor growth = at::zeros({1}, at::kInt);
  at::_amp_update_scale_(scale, growth, found, /*scale_growth_factor=*/2.,
                         /*scale_backoff_factor=*/0.5,
                         /*growth_interval=*/1);
  EXPECT_EQ(scale.item<float>(), 4);
}

TEST(FusedAdamW, LeavesEverythingAloneWhenInfinityWasFound) {
  const std::vector<at::Tensor> parameter = {at::ones({4})};
  const std::vector<at::Tensor> gradient = {at::ones({4})};
  const std::vector<at::Tensor> first = {at::zeros({4})};
  const std::vector<at::Tensor> second = {at::zeros({4})};
  const std::vector<at::Tensor> steps = {at::ones({})};
  const auto step = [&](const at::Tensor& found) {
    at::_fused_adamw_(parameter, gradient, first, second, {}, steps, /*lr=*/0.1, /*beta1=*/0.9,
                      /*beta2=*/0.999, /*weight_decay=*/0., /*eps=*/1e-8, /*amsgrad=*/false,
                      /*maximize=*/false, /*grad_scale=*/at::ones({1}), found);
  };
  step(at::ones({1}));
  EXPECT_EQ(parameter[0].sum().item<double>(), 4);
  step(at::zeros({1}));
  EXPECT_NEAR(parameter[0].sum().item<double>(), 3.6, 1e-5);  // the first step moves by lr
  EXPECT_EQ(steps[0].item<float>(), 1);                       // steps are the caller's business
  at::_fused_adamw_(parameter, gradient, first, second, {}, steps, /*lr=*/at::zeros({}), 0.9, 0.999,
                    0., 1e-8, false, false);
}

TEST(FusedSgd, TakesAStep) {
  const std::vector<at::Tensor> parameter = {at::ones({4})};
  const std::vector<at::Tensor> gradient = {at::ones({4})};
  at::_fused_sgd_(parameter, gradient, {}, /*weight_decay=*/0., /*momentum=*/0., /*lr=*/0.5,
                  /*dampening=*/0., /*nesterov=*/false, /*maximize=*/false, /*is_first_step=*/true,
                  /*grad_scale=*/at::ones({1}), /*found_inf=*/at::zeros({1}));
  EXPECT_EQ(parameter[0].sum().item<double>(), 2);
}

TEST(ForeachNorm, TakesTheTypeToComputeIn) {
  const auto norms = at::_foreach_norm({at::ones({4}, at::kBFloat16)}, 2, at::kFloat);
  EXPECT_EQ(norms.at(0).scalar_type(), at::kFloat);
  EXPECT_EQ(norms.at(0).item<float>(), 2);
}

TEST(Attention, TakesAMaskAndAScale) {
  const at::Tensor query = at::ones({1, 2, 3, 4});
  const at::Tensor output = at::scaled_dot_product_attention(
      query, query, query, /*attn_mask=*/at::zeros({3, 3}), /*dropout_p=*/0., /*is_causal=*/false,
      /*scale=*/0.5);
  EXPECT_EQ(output.sizes(), query.sizes());
}

TEST(Context, Fp32PrecisionIsSetPerBackendAndOperator) {
  at::Context& context = at::globalContext();
  const auto before = context.float32Precision(at::Float32Backend::CUDA, at::Float32Op::MATMUL);
  context.setFloat32Precision(at::Float32Backend::CUDA, at::Float32Op::MATMUL,
                              at::Float32Precision::TF32);
  EXPECT_EQ(context.float32Precision(at::Float32Backend::CUDA, at::Float32Op::MATMUL),
            at::Float32Precision::TF32);
  context.setFloat32Precision(at::Float32Backend::CUDA, at::Float32Op::MATMUL, before);
}

TEST(Devices, AreReachedWithoutTheHeadersOfOne) {
  // Registered when libtorch_cuda is loaded; without it the questions are answered with "none".
  EXPECT_EQ(c10::impl::hasDeviceGuardImpl(at::kCUDA), at::hasCUDA());
  static_assert(std::is_constructible_v<c10::impl::VirtualGuardImpl, c10::DeviceType>);
  static_assert(std::is_constructible_v<c10::Event, c10::DeviceType, c10::EventFlag>);
  static_assert(std::is_constructible_v<c10::StreamGuard, c10::Stream>);
  static_assert(
      std::is_same_v<decltype(c10::getDeviceAllocator(at::kCUDA)), c10::DeviceAllocator*>);
  static_assert(std::is_pointer_v<decltype(at::getHostAllocator(at::kCUDA))>);
}

TEST(Gradients, MayBeOfAnotherTypeThanTheParameter) {
  const at::Tensor parameter = at::ones({2}, at::kBFloat16).requires_grad_();
  parameter.set_grad_dtype(at::kFloat);
  EXPECT_EQ(parameter.grad_dtype(), at::kFloat);
}

TEST(Threads, AreCounted) {
  const int before = at::get_num_threads();
  at::set_num_threads(1);
  EXPECT_EQ(at::get_num_threads(), 1);
  at::set_num_threads(before);
}

}  // namespace
