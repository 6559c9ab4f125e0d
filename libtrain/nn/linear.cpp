#include "libtrain/nn/linear.hpp"

#include <ATen/autocast_mode.h>
#include <ATen/core/custom_class.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/sum.h>

#include <algorithm>

#include "libtrain/core/require.hpp"
#include "libtrain/nn/direct_gradient.hpp"
#include "libtrain/nn/kernel_function.hpp"
#include "libtrain/runtime/gradient_forms.hpp"

namespace libtrain {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Weights [out, in] and biases [out] of layers with one input; the biases may be absent.
struct Layers {
  std::vector<at::Tensor> weights;
  std::vector<at::Tensor> biases;
};

struct Call : torch::CustomClassHolder {
  std::vector<at::Tensor> weights;
  at::Tensor bias;                    ///< of all layers, in `dtype`; undefined: none has one
  at::ScalarType dtype = at::kFloat;  ///< of the products
  at::ScalarType input_dtype = at::kFloat;
  bool keep_computed = false;  ///< the reader takes gradients in `dtype`
};

/// One below the other, in `dtype`. A single one is cast once in an autocast scope.
at::Tensor stacked(at::TensorList parts, at::ScalarType dtype) {
  if (parts.size() == 1) {
    return at::autocast::cached_cast(dtype, parts[0], at::kCPU).detach();
  }
  const at::NoGradGuard no_grad;
  int64_t rows = 0;
  for (const at::Tensor& part : parts) {
    rows += part.size(0);
  }
  std::vector<int64_t> shape = parts[0].sizes().vec();
  shape[0] = rows;
  at::Tensor out = at::empty(shape, parts[0].options().dtype(dtype));
  int64_t row = 0;
  for (const at::Tensor& part : parts) {
    out.narrow(0, row, part.size(0)).copy_(part);
    row += part.size(0);
  }
  return out;
}

struct JoinedLinear : torch::autograd::Function<JoinedLinear> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& input,
                            at::TensorList /*weights*/, at::TensorList /*biases*/,
                            const at::Tensor& weight, const c10::intrusive_ptr<Call>& call) {
    const at::Tensor x = input.to(call->dtype);
    context->save_for_backward({x, weight});
    save_call(*context, call);
    return call->bias.defined() ? at::addmm(call->bias, x, weight.t()) : at::mm(x, weight.t());
  }

  static variable_list backward(AutogradContext* context, const variable_list& grad_outputs) {
    refuse_second_derivative("nn.linear", "call the layer itself, layer(input)");
    const auto call = saved_call<Call>(*context);
    const variable_list saved = context->get_saved_variables();
    const at::Tensor& x = saved[0];
    const at::Tensor& w = saved[1];
    const at::Tensor grad = grad_outputs[0].to(call->dtype);

    variable_list grads;
    grads.push_back(context->needs_input_grad(0) ? grad.mm(w).to(call->input_dtype) : at::Tensor());
    add_weight_gradients(*context, *call, grad.t().mm(x), grads);
    if (call->bias.defined()) {
      add_bias_gradients(*context, *call, at::sum(grad, {0}, /*keepdim=*/false, at::kFloat), grads);
    }
    grads.resize(grads.size() + 2);  // the joined weight, and the call
    return grads;
  }

 private:
  static void add_weight_gradients(const AutogradContext& context, const Call& call,
                                   const at::Tensor& all, variable_list& grads) {
    int64_t row = 0;
    for (size_t i = 0; i < call.weights.size(); ++i) {
      const at::Tensor& weight = call.weights[i];
      const at::Tensor gradient = all.narrow(0, row, weight.size(0));
      row += weight.size(0);
      if (!context.needs_input_grad(1 + i)) {
        grads.emplace_back();
      } else if (call.keep_computed && leave_gradient(weight, gradient)) {
        grads.emplace_back();
      } else {
        grads.push_back(gradient.to(weight.scalar_type()));
      }
    }
  }

  static void add_bias_gradients(const AutogradContext& context, const Call& call,
                                 const at::Tensor& all, variable_list& grads) {
    const size_t count = call.weights.size();
    int64_t row = 0;
    for (size_t i = 0; i < count; ++i) {
      const int64_t rows = call.weights[i].size(0);
      grads.push_back(context.needs_input_grad(1 + count + i) ? all.narrow(0, row, rows)
                                                              : at::Tensor());
      row += rows;
    }
  }
};

at::ScalarType compute_dtype(const at::Tensor& input) {
  return at::autocast::is_autocast_enabled(at::kCPU) ? at::autocast::get_autocast_dtype(at::kCPU)
                                                     : input.scalar_type();
}

bool is_own(const at::Tensor& input, const Layers& layers) {
  const auto plain = [](const at::Tensor& parameter) {
    return kernels_take(parameter) && parameter.scalar_type() == at::kFloat;
  };
  const at::ScalarType dtype = compute_dtype(input);
  return at::GradMode::is_enabled() && input.is_cpu() && input.layout() == at::kStrided &&
         at::isFloatingType(input.scalar_type()) &&
         (dtype == at::kFloat || dtype == at::kBFloat16) &&
         std::all_of(layers.weights.begin(), layers.weights.end(), plain) &&
         std::all_of(layers.biases.begin(), layers.biases.end(), plain);
}

at::Tensor run(const at::Tensor& input, const Layers& layers) {
  const int64_t in_features = layers.weights[0].size(1);
  require(input.dim() >= 1 && input.size(-1) == in_features,
          "[nn.linear] wrong shape: input.size(-1)={}, expected in_features={}",
          input.dim() >= 1 ? input.size(-1) : 0, in_features);
  if (!is_own(input, layers)) {
    const bool single = layers.weights.size() == 1;
    const at::Tensor weight = single ? layers.weights[0] : at::cat(layers.weights);
    const at::Tensor bias = layers.biases.empty() ? at::Tensor()
                            : single              ? layers.biases[0]
                                                  : at::cat(layers.biases);
    return at::linear(input, weight, bias);
  }
  auto call = c10::make_intrusive<Call>();
  call->weights = layers.weights;
  call->dtype = compute_dtype(input);
  if (!layers.biases.empty()) {
    call->bias = stacked(layers.biases, call->dtype);
  }
  call->input_dtype = input.scalar_type();
  call->keep_computed = gradient_forms().computed && call->dtype != at::kFloat;
  const at::Tensor rows = input.dim() == 2 ? input : input.reshape({-1, in_features});
  const at::Tensor out =
      JoinedLinear::apply(rows, at::TensorList(layers.weights), at::TensorList(layers.biases),
                          stacked(layers.weights, call->dtype), call);
  if (input.dim() == 2) {
    return out;
  }
  std::vector<int64_t> shape = input.sizes().vec();
  shape.back() = out.size(1);
  return out.view(shape);
}

}  // namespace

at::Tensor linear(const torch::nn::LinearImpl& layer, const at::Tensor& input) {
  Layers one{{layer.weight}, {}};
  if (layer.bias.defined()) {
    one.biases.push_back(layer.bias);
  }
  return run(input, one);
}

PackedLayoutPtr layout_for_products(const PackedLayoutPtr& layout, at::Device device) {
  return at::autocast::is_autocast_enabled(device.type()) ? with_filler(layout) : layout;
}

at::Tensor joined_linear(const std::vector<torch::nn::Linear>& layers, const at::Tensor& input) {
  require(!layers.empty(), "[nn.joined_linear] no layers, expected at least one");
  Layers all;
  for (const torch::nn::Linear& layer : layers) {
    require(layer->weight.size(1) == layers[0]->weight.size(1),
            "[nn.joined_linear] layers take inputs of different width: {} and {}",
            layers[0]->weight.size(1), layer->weight.size(1));
    all.weights.push_back(layer->weight);
    if (layer->bias.defined()) {
      all.biases.push_back(layer->bias);
    }
  }
  require(all.biases.empty() || all.biases.size() == layers.size(),
          "[nn.joined_linear] {} of {} layers have a bias, expected all or none", all.biases.size(),
          layers.size());
  return run(input, all);
}

}  // namespace libtrain
