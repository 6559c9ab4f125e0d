#include <ATen/ATen.h>
#include <ATen/autocast_mode.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "libtrain/amp/autocast.hpp"
#include "libtrain/core/error.hpp"
#include "libtrain/sim/sim.hpp"
#include "sim_support.hpp"

namespace libtrain::sim {
namespace {

using test::same_bits;
using test::values;

constexpr auto kSim = c10::DeviceType::PrivateUse1;

/// An operator on tensors that `make` gives, of the dtype under test.
using Make = std::function<at::Tensor(at::IntArrayRef)>;
struct Operator {
  const char* name;
  std::function<at::Tensor(const Make& make)> run;
};

std::string name_of(const testing::TestParamInfo<Operator>& info) { return info.param.name; }

/// The lists of PyTorch's documentation, "CUDA Ops that can autocast to float16".
const std::vector<Operator> kLower{
    {"matmul",
     [](const Make& t) {
       return at::matmul(t({2, 3, 4}), t({4, 5}));
     }},
    {"mm",
     [](const Make& t) {
       return at::mm(t({3, 4}), t({4, 5}));
     }},
    {"mv",
     [](const Make& t) {
       return at::mv(t({3, 4}), t({4}));
     }},
    {"bmm",
     [](const Make& t) {
       return at::bmm(t({2, 3, 4}), t({2, 4, 5}));
     }},
    {"addmm",
     [](const Make& t) {
       return at::addmm(t({5}), t({3, 4}), t({4, 5}));
     }},
    {"addmv",
     [](const Make& t) {
       return at::addmv(t({3}), t({3, 4}), t({4}));
     }},
    {"addr",
     [](const Make& t) {
       return at::addr(t({3, 4}), t({3}), t({4}));
     }},
    {"addbmm",
     [](const Make& t) {
       return at::addbmm(t({3, 5}), t({2, 3, 4}), t({2, 4, 5}));
     }},
    {"baddbmm",
     [](const Make& t) {
       return at::baddbmm(t({3, 5}), t({2, 3, 4}), t({2, 4, 5}));
     }},
    {"chain_matmul",
     [](const Make& t) {
       return at::chain_matmul({t({3, 4}), t({4, 5})});
     }},
    {"multi_dot",
     [](const Make& t) {
       return at::linalg_multi_dot({t({3, 4}), t({4, 5})});
     }},
    {"einsum",
     [](const Make& t) {
       return at::einsum("ij,jk->ik", {t({3, 4}), t({4, 5})});
     }},
    {"linear",
     [](const Make& t) {
       return at::linear(t({3, 4}), t({5, 4}), t({5}));
     }},
    {"conv1d",
     [](const Make& t) {
       return at::conv1d(t({2, 3, 9}), t({4, 3, 3}));
     }},
    {"conv2d",
     [](const Make& t) {
       return at::conv2d(t({2, 3, 9, 9}), t({4, 3, 3, 3}));
     }},
    {"conv3d",
     [](const Make& t) {
       return at::conv3d(t({1, 2, 5, 5, 5}), t({3, 2, 2, 2, 2}));
     }},
    {"conv_transpose2d",
     [](const Make& t) {
       return at::conv_transpose2d(t({2, 3, 5, 5}), t({3, 4, 2, 2}));
     }},
    {"prelu",
     [](const Make& t) {
       return at::prelu(t({3, 4}), t({4}));
     }},
    {"rnn_cell",
     [](const Make& t) {
       return at::rnn_tanh_cell(t({2, 4}), t({2, 3}), t({3, 4}), t({3, 3}));
     }},
    {"scaled_dot_product_attention",
     [](const Make& t) {
       return at::scaled_dot_product_attention(t({2, 3, 5, 8}), t({2, 3, 5, 8}), t({2, 3, 5, 8}));
     }},
};

/// "CUDA Ops that can autocast to float32".
const std::vector<Operator> kFp32{
    {"exp", [](const Make& t) { return t({3}).exp(); }},
    {"log", [](const Make& t) { return t({3}).abs().log(); }},
    {"log1p", [](const Make& t) { return t({3}).abs().log1p(); }},
    {"expm1", [](const Make& t) { return t({3}).expm1(); }},
    {"pow", [](const Make& t) { return t({3}).pow(2); }},
    {"pow_of_tensor", [](const Make& t) { return t({3}).abs().pow(t({3})); }},
    {"rsqrt", [](const Make& t) { return t({3}).abs().rsqrt(); }},
    {"reciprocal", [](const Make& t) { return t({3}).reciprocal(); }},
    {"tan", [](const Make& t) { return t({3}).tan(); }},
    {"softplus", [](const Make& t) { return at::softplus(t({3})); }},
    {"softmax",
     [](const Make& t) {
       return at::softmax(t({3, 4}), -1);
     }},
    {"log_softmax",
     [](const Make& t) {
       return at::log_softmax(t({3, 4}), -1);
     }},
    {"logsumexp",
     [](const Make& t) {
       return at::logsumexp(t({3, 4}), 1);
     }},
    {"sum",
     [](const Make& t) {
       return t({3, 4}).sum();
     }},
    {"sum_of_dim",
     [](const Make& t) {
       return t({3, 4}).sum(1);
     }},
    {"prod",
     [](const Make& t) {
       return t({3, 4}).prod();
     }},
    {"cumsum",
     [](const Make& t) {
       return t({3, 4}).cumsum(0);
     }},
    {"cumprod",
     [](const Make& t) {
       return t({3, 4}).cumprod(0);
     }},
    {"norm",
     [](const Make& t) {
       return t({3, 4}).norm();
     }},
    {"norm_of_dim",
     [](const Make& t) {
       return t({3, 4}).norm(2, {1}, false);
     }},
    {"vector_norm",
     [](const Make& t) {
       return at::linalg_vector_norm(t({3, 4}));
     }},
    {"dist", [](const Make& t) { return at::dist(t({3}), t({3})); }},
    {"cdist",
     [](const Make& t) {
       return at::cdist(t({3, 4}), t({2, 4}));
     }},
    {"cosine_similarity",
     [](const Make& t) {
       return at::cosine_similarity(t({3, 4}), t({3, 4}));
     }},
    {"renorm",
     [](const Make& t) {
       return at::renorm(t({3, 4}), 2, 0, 1);
     }},
    {"layer_norm",
     [](const Make& t) {
       return at::layer_norm(t({3, 4}), {4}, t({4}), t({4}));
     }},
    {"group_norm",
     [](const Make& t) {
       return at::group_norm(t({3, 4, 5}), 2, t({4}), t({4}));
     }},
    {"mse_loss", [](const Make& t) { return at::mse_loss(t({3}), t({3})); }},
    {"l1_loss", [](const Make& t) { return at::l1_loss(t({3}), t({3})); }},
    {"smooth_l1_loss", [](const Make& t) { return at::smooth_l1_loss(t({3}), t({3})); }},
    {"huber_loss", [](const Make& t) { return at::huber_loss(t({3}), t({3})); }},
    {"kl_div", [](const Make& t) { return at::kl_div(t({3}), t({3}).abs()); }},
    {"bce_with_logits",
     [](const Make& t) { return at::binary_cross_entropy_with_logits(t({3}), t({3}).sigmoid()); }},
    {"nll_loss",
     [](const Make& t) {
       return at::nll_loss(t({2, 3}), at::zeros({2}, at::TensorOptions(device()).dtype(at::kLong)));
     }},
    {"cross_entropy",
     [](const Make& t) {
       return at::cross_entropy_loss(t({2, 3}),
                                     at::zeros({2}, at::TensorOptions(device()).dtype(at::kLong)));
     }},
    {"upsample_bilinear2d",
     [](const Make& t) {
       return at::upsample_bilinear2d(t({1, 2, 4, 4}), {8, 8}, false);
     }},
};

/// "CUDA Ops that promote to the widest input type".
const std::vector<Operator> kPromote{
    {"addcmul", [](const Make& t) { return at::addcmul(t({3}), t({3}), t({3})); }},
    {"addcdiv", [](const Make& t) { return at::addcdiv(t({3}), t({3}), t({3})); }},
    {"atan2", [](const Make& t) { return at::atan2(t({3}), t({3})); }},
    {"bilinear",
     [](const Make& t) {
       return at::bilinear(t({2, 3}), t({2, 4}), t({5, 3, 4}));
     }},
    {"cross",
     [](const Make& t) {
       return at::cross(t({2, 3}), t({2, 3}));
     }},
    {"dot", [](const Make& t) { return at::dot(t({3}), t({3})); }},
    {"vdot", [](const Make& t) { return at::vdot(t({3}), t({3})); }},
    {"tensordot",
     [](const Make& t) {
       return at::tensordot(t({3, 4}), t({4, 5}), {1}, {0});
     }},
    {"grid_sampler",
     [](const Make& t) {
       return at::grid_sampler(t({1, 2, 4, 4}), t({1, 3, 3, 2}), 0, 0, false);
     }},
    {"index_put",
     [](const Make& t) {
       const at::Tensor where = at::ones({1}, at::TensorOptions(device()).dtype(at::kLong));
       return at::index_put(t({3}), {std::optional(where)}, t({1}));
     }},
    {"scatter_add",
     [](const Make& t) {
       const at::Tensor where = at::ones({1}, at::TensorOptions(device()).dtype(at::kLong));
       return at::scatter_add(t({3}), 0, where, t({1}));
     }},
};

/// On no list: what LibTorch's CPU list has as fp32 or promoting is here as well.
const std::vector<Operator> kUntouched{
    {"add", [](const Make& t) { return t({3}) + t({3}); }},
    {"relu", [](const Make& t) { return at::relu(t({3})); }},
    {"gelu", [](const Make& t) { return at::gelu(t({3})); }},
    {"tanh", [](const Make& t) { return t({3}).tanh(); }},
    {"mean",
     [](const Make& t) {
       return t({3, 4}).mean();
     }},
    {"max_pool2d",
     [](const Make& t) {
       return at::max_pool2d(t({1, 2, 4, 4}), 2);
     }},
    {"embedding",
     [](const Make& t) {
       return at::embedding(t({3, 4}), at::ones({2}, at::TensorOptions(device()).dtype(at::kLong)));
     }},
};

Make of(c10::ScalarType dtype) {
  return [dtype](at::IntArrayRef sizes) { return values(sizes, 1).to(device(), dtype); };
}

/// Of these dtypes in turn.
Make of_both(c10::ScalarType first, c10::ScalarType second) {
  return [=, calls = std::make_shared<int>(0)](at::IntArrayRef sizes) {
    return of((*calls)++ % 2 == 0 ? first : second)(sizes);
  };
}

class Casts : public testing::TestWithParam<Operator> {
 protected:
  /// The dtype of the result under autocast to `lower`.
  static c10::ScalarType result(c10::ScalarType lower, const Make& make) {
    const Autocast cast(kSim, lower);
    return GetParam().run(make).scalar_type();
  }
};

using CastsToLower = Casts;
TEST_P(CastsToLower, WhateverComesIn) {
  for (const auto lower : {at::kHalf, at::kBFloat16}) {
    EXPECT_EQ(lower, result(lower, of(at::kFloat)));
    EXPECT_EQ(lower, result(lower, of_both(lower, at::kFloat)));
  }
}
INSTANTIATE_TEST_SUITE_P(List, CastsToLower, testing::ValuesIn(kLower), name_of);

using CastsToFp32 = Casts;
TEST_P(CastsToFp32, WhateverComesIn) {
  for (const auto lower : {at::kHalf, at::kBFloat16}) {
    EXPECT_EQ(at::kFloat, result(lower, of(lower)));
    EXPECT_EQ(at::kFloat, result(lower, of(at::kFloat)));
  }
}
INSTANTIATE_TEST_SUITE_P(List, CastsToFp32, testing::ValuesIn(kFp32), name_of);

using CastsToWidest = Casts;
TEST_P(CastsToWidest, OfTheInputs) {
  EXPECT_EQ(at::kFloat, result(at::kBFloat16, of_both(at::kBFloat16, at::kFloat)));
  EXPECT_EQ(at::kBFloat16, result(at::kBFloat16, of(at::kBFloat16)));
}
INSTANTIATE_TEST_SUITE_P(List, CastsToWidest, testing::ValuesIn(kPromote), name_of);

using CastsNothing = Casts;
TEST_P(CastsNothing, OnNoList) {
  EXPECT_EQ(at::kBFloat16, result(at::kBFloat16, of(at::kBFloat16)));
  EXPECT_EQ(at::kFloat, result(at::kBFloat16, of(at::kFloat)));
}
INSTANTIATE_TEST_SUITE_P(List, CastsNothing, testing::ValuesIn(kUntouched), name_of);

std::set<std::string> registered(c10::DispatchKey key) {
  std::set<std::string> names;
  for (const auto& name : c10::Dispatcher::singleton().getRegistrationsForDispatchKey(key)) {
    names.insert(c10::toString(name));
  }
  return names;
}

TEST(Autocast, KnowsTheOperatorsThatLibTorchRegistersForCuda) {
  std::set<std::string> cuda = registered(c10::DispatchKey::AutocastCUDA);
  for (const char* on_no_list : {"aten::cudnn_convolution", "aten::cudnn_convolution_transpose",
                                 "aten::_cudnn_rnn", "aten::linalg_matrix_sqrth"}) {
    cuda.erase(on_no_list);
  }
  EXPECT_GT(cuda.size(), 100u);
  EXPECT_EQ(cuda, registered(c10::DispatchKey::AutocastPrivateUse1));
}

TEST(Autocast, StartsWithHalfAsOnCuda) {
  EXPECT_EQ(at::kHalf, at::autocast::get_autocast_dtype(kSim));
  const at::Tensor x = values({2, 2}, 1).to(device());
  EXPECT_EQ(at::kFloat, at::mm(x, x).scalar_type());
  at::autocast::set_autocast_enabled(kSim, true);
  EXPECT_EQ(at::kHalf, at::mm(x, x).scalar_type());
  at::autocast::set_autocast_enabled(kSim, false);
  at::autocast::clear_cache();
}

TEST(Autocast, RefusesBinaryCrossEntropy) {
  const at::Tensor x = at::full({3}, 0.5, device());
  const Autocast cast(kSim, at::kHalf);
  EXPECT_THAT([&] { at::binary_cross_entropy(x, x); },
              testing::ThrowsMessage<Unsupported>(
                  testing::HasSubstr("use binary_cross_entropy_with_logits")));
}

TEST(Autocast, LeavesDoubleAndTheCpusTensorsAlone) {
  const Autocast cast(kSim, at::kBFloat16);
  const at::Tensor x = values({2, 2}, 1).to(device(), at::kDouble);
  EXPECT_EQ(at::kDouble, at::mm(x, x).scalar_type());
  EXPECT_EQ(at::kFloat, at::mm(values({2, 2}, 1), values({2, 2}, 2)).scalar_type());
}

TEST(Autocast, CastsAWeightOnce) {
  const at::Tensor weight = values({4, 4}, 1).to(device()).requires_grad_();
  const at::Tensor x = values({4, 4}, 2).to(device());
  const auto cast_of = [&] { return at::autocast::cached_cast(at::kHalf, weight, kSim); };
  {
    const Autocast cast(kSim, at::kHalf);
    at::mm(x, weight);
    EXPECT_TRUE(cast_of().is_same(cast_of()));
    at::autocast::set_autocast_cache_enabled(false);
    EXPECT_FALSE(cast_of().is_same(cast_of()));
  }
  at::Tensor first;
  {
    const Autocast cast(kSim, at::kHalf);
    first = cast_of();
  }
  const Autocast cast(kSim, at::kHalf);
  EXPECT_FALSE(first.is_same(cast_of())) << "the outermost guard clears the cache";
}

/// The result of autocast is that of the same casts by hand, forward and backward.
TEST(Autocast, ComputesWhatTheSameCastsByHandCompute) {
  const auto run = [](bool by_hand) {
    const at::Tensor weight = values({8, 8}, 1).to(device()).requires_grad_();
    const at::Tensor x = values({4, 8}, 2).to(device());
    at::Tensor loss;
    if (by_hand) {
      const at::Tensor y = at::mm(x.to(at::kBFloat16), weight.to(at::kBFloat16)).to(at::kFloat);
      loss = at::layer_norm(y, {8}).square().sum();
    } else {
      const Autocast cast(kSim, at::kBFloat16);
      loss = at::layer_norm(at::mm(x, weight), {8}).square().sum();
    }
    loss.backward();
    return std::pair(loss.detach(), weight.grad());
  };
  const auto [loss, gradient] = run(false);
  const auto [expected_loss, expected_gradient] = run(true);
  EXPECT_EQ(at::kFloat, gradient.scalar_type());
  EXPECT_TRUE(same_bits(expected_loss, loss));
  EXPECT_TRUE(same_bits(expected_gradient, gradient));
}

}  // namespace
}  // namespace libtrain::sim
