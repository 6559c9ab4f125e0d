#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <functional>

#include "libtrain/core/error.hpp"
#include "libtrain/sim/sim.hpp"
#include "sim_support.hpp"

namespace libtrain::sim {
namespace {

using test::same_bits;
using test::values;
using Tensors = std::vector<at::Tensor>;

/// The same work on the tensors `t` of one device.
struct Operator {
  const char* name;
  std::function<Tensors(const Tensors& t)> run;
};

/// t: float [6, 8], float [8, 6], float [6, 8], int64 [5] below 6, bool [6, 8], float [2, 3, 9, 9],
/// float [4, 3, 3, 3].
Tensors inputs() {
  const at::Tensor indices = at::tensor({5, 0, 3, 3, 1}, at::kLong);
  return {values({6, 8}, 1),     values({8, 6}, 2),       values({6, 8}, 3),      indices,
          values({6, 8}, 4) > 0, values({2, 3, 9, 9}, 5), values({4, 3, 3, 3}, 6)};
}

const std::vector<Operator> kOperators{
    {"add", [](const Tensors& t) { return Tensors{t[0] + t[2]}; }},
    {"add_number", [](const Tensors& t) { return Tensors{t[0] + 2.5}; }},
    {"add_promotes",
     [](const Tensors& t) {
       return Tensors{t[3] + 0.5, t[3] + t[3].to(at::kDouble)};
     }},
    {"broadcast", [](const Tensors& t) { return Tensors{t[0] * t[2].select(0, 1)}; }},
    {"divide",
     [](const Tensors& t) {
       return Tensors{t[0] / t[2], t[0].floor_divide(t[2])};
     }},
    {"mm", [](const Tensors& t) { return Tensors{at::mm(t[0], t[1])}; }},
    {"addmm", [](const Tensors& t) { return Tensors{at::addmm(t[0].select(1, 0), t[0], t[1])}; }},
    {"bmm", [](const Tensors& t) { return Tensors{at::bmm(t[5][0], t[5][1])}; }},
    {"linear", [](const Tensors& t) { return Tensors{at::linear(t[0], t[2], t[2].select(1, 0))}; }},
    {"matmul_transposed", [](const Tensors& t) { return Tensors{at::matmul(t[0], t[2].t())}; }},
    {"softmax",
     [](const Tensors& t) {
       return Tensors{at::softmax(t[0], -1), at::log_softmax(t[0], 0)};
     }},
    {"layer_norm",
     [](const Tensors& t) { return Tensors{at::layer_norm(t[0], {8}, t[2][0], t[2][1])}; }},
    {"batch_norm",
     [](const Tensors& t) {
       const at::Tensor mean = at::zeros({3}, t[0].options());
       const at::Tensor variance = at::ones({3}, t[0].options());
       return Tensors{at::batch_norm(t[5], {}, {}, mean, variance, true, 0.1, 1e-5, false), mean,
                      variance};
     }},
    {"gelu",
     [](const Tensors& t) {
       return Tensors{at::gelu(t[0]), at::gelu(t[0], "tanh")};
     }},
    {"relu", [](const Tensors& t) { return Tensors{at::relu(t[0])}; }},
    {"tanh_sigmoid_exp",
     [](const Tensors& t) {
       return Tensors{t[0].tanh(), t[0].sigmoid(), t[0].exp()};
     }},
    {"sum_mean",
     [](const Tensors& t) {
       return Tensors{t[0].sum(), t[0].sum(1), t[0].mean(0, true)};
     }},
    {"max",
     [](const Tensors& t) {
       const auto [most, where] = t[0].max(1);
       return Tensors{most, where, t[0].argmax(), t[0].amax(0)};
     }},
    {"sort_topk",
     [](const Tensors& t) {
       const auto [sorted, order] = t[0].sort(1);
       const auto [most, where] = t[0].topk(3);
       return Tensors{sorted, order, most, where};
     }},
    {"norm",
     [](const Tensors& t) {
       return Tensors{t[0].norm(), at::linalg_vector_norm(t[0], 1)};
     }},
    {"embedding", [](const Tensors& t) { return Tensors{at::embedding(t[0], t[3])}; }},
    {"index",
     [](const Tensors& t) {
       return Tensors{t[0].index({t[3]}), t[0].index({t[4]})};
     }},
    {"index_put",
     [](const Tensors& t) {
       at::Tensor x = t[0].clone();
       x.index_put_({t[3]}, t[2].select(0, 0));
       return Tensors{x};
     }},
    {"index_add",
     [](const Tensors& t) { return Tensors{t[0].index_add(0, t[3], t[2].slice(0, 0, 5))}; }},
    {"gather_scatter",
     [](const Tensors& t) {
       const at::Tensor index = t[3].view({5, 1});
       return Tensors{t[0].gather(1, index), t[0].scatter_add(1, index, t[2])};
     }},
    {"masked_fill",
     [](const Tensors& t) {
       return Tensors{t[0].masked_fill(t[4], -1.0), t[0].masked_select(t[4])};
     }},
    {"where", [](const Tensors& t) { return Tensors{at::where(t[4], t[0], t[2])}; }},
    {"nonzero", [](const Tensors& t) { return Tensors{t[4].nonzero()}; }},
    {"unique",
     [](const Tensors& t) {
       const auto [found, inverse, counts] = at::_unique2(t[3], true, true, true);
       return Tensors{found, inverse, counts};
     }},
    {"cat_stack",
     [](const Tensors& t) {
       return Tensors{at::cat({t[0], t[2]}, 1), at::stack({t[0], t[2]})};
     }},
    {"split_unbind",
     [](const Tensors& t) {
       Tensors parts = t[0].split(4, 0);
       for (const at::Tensor& row : t[0].unbind(1)) {
         parts.push_back(row);
       }
       return parts;
     }},
    {"views",
     [](const Tensors& t) {
       return Tensors{t[0].view({8, 6}),
                      t[0].t(),
                      t[0].permute({1, 0}).unsqueeze(0),
                      t[0].expand({2, 6, 8}),
                      t[0].unfold(1, 3, 2),
                      t[0].narrow(1, 2, 3).squeeze(),
                      t[0].reshape({-1}),
                      t[0].diagonal()};
     }},
    {"view_is_written_through",
     [](const Tensors& t) {
       at::Tensor x = t[0].clone();
       x.t().select(0, 3).zero_();
       x.unfold(1, 2, 2).mul_(3.0);
       return Tensors{x};
     }},
    {"in_place",
     [](const Tensors& t) {
       at::Tensor x = t[0].clone();
       return Tensors{x.add_(t[2]).mul_(2.0).clamp_(-1, 1).addcmul_(t[0], t[2], 0.1)};
     }},
    {"in_place_changes_shape",
     [](const Tensors& t) {
       at::Tensor x = t[0].clone();
       x.t_();
       x.unsqueeze_(0);
       return Tensors{x};
     }},
    {"out_grows",
     [](const Tensors& t) {
       at::Tensor x = at::empty({0}, t[0].options());
       at::mm_out(x, t[0], t[1]);
       at::Tensor y = at::empty({0}, t[0].options());
       at::cat_out(y, {t[0], t[2]});
       at::Tensor again = at::empty({0}, t[0].options());
       at::add_out(again, t[0][0], t[2][0]);
       again.resize_({0});
       at::add_out(again, t[0], t[2]);
       return Tensors{x, y, again};
     }},
    {"resize",
     [](const Tensors& t) {
       at::Tensor x = t[0].clone();
       x.resize_({10, 10});
       return Tensors{x.view({-1}).slice(0, 0, 48)};
     }},
    {"set",
     [](const Tensors& t) {
       at::Tensor x = at::empty({0}, t[0].options());
       x.set_(t[0]);
       at::Tensor y = at::empty({0}, t[0].options());
       y.set_(t[0].storage(), 8, {2, 8}, {8, 1});
       return Tensors{x, y};
     }},
    {"conv2d",
     [](const Tensors& t) {
       return Tensors{at::conv2d(t[5], t[6], t[2].select(1, 0).slice(0, 0, 4), 2, 1)};
     }},
    {"pool",
     [](const Tensors& t) {
       return Tensors{at::max_pool2d(t[5], 2), at::adaptive_avg_pool2d(t[5], {3, 3})};
     }},
    {"upsample",
     [](const Tensors& t) {
       return Tensors{at::upsample_bilinear2d(t[5], {12, 12}, false)};
     }},
    {"factories",
     [](const Tensors& t) {
       const at::TensorOptions on = t[0].options();
       return Tensors{at::zeros({3}, on),
                      at::full({2, 2}, 7, on),
                      at::arange(5, on),
                      at::linspace(0, 1, 7, on),
                      at::eye(3, on),
                      at::ones_like(t[0]),
                      at::tril_indices(3, 3, 0, on.dtype(at::kLong)),
                      at::scalar_tensor(2.0, on)};
     }},
    {"dtypes",
     [](const Tensors& t) {
       return Tensors{
           t[0].to(at::kBFloat16),     t[0].to(at::kHalf) + t[2].to(at::kHalf),
           t[0].to(at::kDouble).sum(), at::mm(t[0].to(at::kBFloat16), t[1].to(at::kBFloat16)),
           t[0].to(at::kInt),          t[4].to(at::kFloat)};
     }},
    {"channels_last",
     [](const Tensors& t) {
       const at::Tensor x = t[5].contiguous(at::MemoryFormat::ChannelsLast);
       return Tensors{x + 1, at::conv2d(x, t[6])};
     }},
    {"foreach",
     [](const Tensors& t) {
       Tensors sums = at::_foreach_add({t[0], t[1]}, {t[2], t[1]}, 0.5);
       at::_foreach_mul_(sums, 3.0);
       Tensors norms = at::_foreach_norm(sums);
       sums.insert(sums.end(), norms.begin(), norms.end());
       return sums;
     }},
    {"fused_adamw",
     [](const Tensors& t) {
       at::Tensor x = t[0].clone(), m = at::zeros_like(x), v = at::zeros_like(x);
       at::Tensor step = at::ones({}, t[0].options()), scale = step * 2, found_inf = step * 0;
       at::_fused_adamw_({x}, {t[2].clone()}, {m}, {v}, {}, {step}, 1e-3, 0.9, 0.999, 0.01, 1e-8,
                         false, false, scale, found_inf);
       return Tensors{x, m, v};
     }},
    {"unscale",
     [](const Tensors& t) {
       at::Tensor gradient = t[0].clone(), found_inf = at::zeros({1}, t[0].options());
       at::_amp_foreach_non_finite_check_and_unscale_({gradient}, found_inf,
                                                      at::full({1}, 0.5, t[0].options()));
       return Tensors{gradient, found_inf};
     }},
    {"cross_entropy",
     [](const Tensors& t) { return Tensors{at::cross_entropy_loss(t[0].slice(0, 0, 5), t[3])}; }},
    {"cumsum_flip_roll",
     [](const Tensors& t) {
       return Tensors{t[0].cumsum(1), t[0].flip(0), t[0].roll(2, 1)};
     }},
    {"complex",
     [](const Tensors& t) {
       const at::Tensor z = at::complex(t[0], t[2]);
       return Tensors{at::view_as_real(z.conj().resolve_conj()), (z * z.conj()).abs()};
     }},
};

class SameAsCpu : public testing::TestWithParam<Operator> {};

TEST_P(SameAsCpu, BitForBit) {
  const Tensors on_cpu = inputs();
  Tensors on_sim;
  for (const at::Tensor& input : on_cpu) {
    on_sim.push_back(input.to(device()));
  }
  const Tensors expected = GetParam().run(on_cpu);
  const Tensors got = GetParam().run(on_sim);
  ASSERT_EQ(expected.size(), got.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(device(), got[i].device()) << i;
    EXPECT_EQ(expected[i].strides(), got[i].strides()) << i;
    EXPECT_TRUE(same_bits(expected[i], got[i])) << i << "\n" << expected[i] << "\n" << got[i].cpu();
  }
}

INSTANTIATE_TEST_SUITE_P(Operators, SameAsCpu, testing::ValuesIn(kOperators),
                         [](const auto& info) { return info.param.name; });

TEST(Operators, OfOtherDevicesAreRefusedByName) {
  const at::Tensor x = at::ones({2, 2}, device());
  const at::Tensor elsewhere = at::ones({2, 2}, device(1));
  EXPECT_THAT([&] { at::mm(x, elsewhere); },
              testing::ThrowsMessage<DeviceError>(testing::AllOf(
                  testing::HasSubstr("aten::mm"), testing::HasSubstr("on sim:1"),
                  testing::HasSubstr("Float [2, 2]"), testing::HasSubstr("expected sim:0"))));
  EXPECT_THAT(
      [&] {
        at::mm(x, at::ones({2, 2}));
      },
      testing::ThrowsMessage<DeviceError>(testing::HasSubstr("mat2 on cpu")));
  EXPECT_TRUE(same_bits(at::full({2, 2}, 3.0),
                        x + at::scalar_tensor(2.0)));  // as on CUDA, a number may lie anywhere
}

TEST(Operators, ThatCannotRunSayTheirName) {
  const at::Tensor x = at::ones({2, 2}, device());
  EXPECT_THAT([&] { x.to_sparse(); },
              testing::ThrowsMessage<std::exception>(testing::HasSubstr("sparse")));
  EXPECT_THAT(
      [&] {
        at::mm(x, at::ones({3, 2}, device()));
      },
      testing::ThrowsMessage<std::exception>(testing::HasSubstr("2x2 and 3x2")));
  EXPECT_THAT(
      [&] { at::_cudnn_init_dropout_state(0.5, true, 1, at::TensorOptions(device())); },
      testing::ThrowsMessage<Unsupported>(testing::HasSubstr("aten::_cudnn_init_dropout_state")));
}

}  // namespace
}  // namespace libtrain::sim
