// Runs the device paths on meta tensors, whose numbers cannot be read: see
// support/meta_operators.cpp.

#include <gtest/gtest.h>

#include "libtrain/optim/adamw.hpp"
#include "libtrain/optim/clip.hpp"
#include "libtrain/optim/gradient_norm.hpp"
#include "libtrain/optim/sgd.hpp"
#include "optimizer_support.hpp"

namespace libtrain {
namespace {

at::Tensor on_meta(at::IntArrayRef shape, at::ScalarType dtype = at::kFloat) {
  return at::empty(shape, at::dtype(dtype).device(at::kMeta));
}

struct MetaModel {
  std::vector<Parameter> parameters;

  MetaModel() {
    for (const at::ScalarType dtype : {at::kFloat, at::kDouble}) {
      parameters.push_back({c10::toString(dtype), on_meta({4, 3}, dtype).requires_grad_()});
      parameters.back().tensor.mutable_grad() = on_meta({4, 3}, dtype);
    }
  }
};

template <class Kind, class Options>
void update_and_step(const Options& options) {
  const MetaModel model;
  Kind optimizer(test::one_group(model.parameters), options);
  optimizer.update(DeviceUpdate{on_meta({}), on_meta({}), on_meta({}), GradientsAfter::kZeroed});
  optimizer.update(HostUpdate{.lr_factor = 0.5, .grad_multiplier = 0.5});
  EXPECT_EQ(optimizer.step(), StepOutcome::kDecidedOnDevice);
}

TEST(DeviceUpdate, OfNoOptimizerReadsANumberOnTheHost) {
  EXPECT_THROW(on_meta({}).item<float>(), c10::Error);
  update_and_step<AdamW>(AdamWOptions{.amsgrad = true});
  update_and_step<Adam>(AdamOptions{});
  update_and_step<SGD>(SGDOptions{});
  update_and_step<SGD>(SGDOptions{.momentum = 0.9, .dampening = 0.5, .weight_decay = 0.1});
}

TEST(DeviceUpdate, StateLiesOnTheParametersDevice) {
  const MetaModel model;
  AdamW optimizer(test::one_group(model.parameters));
  optimizer.update(DeviceUpdate{});
  EXPECT_THROW(optimizer.state_dict(),
               c10::Error);  // copies to the host, which meta tensors refuse
}

TEST(ClipGradNorm, DoesNotReadANumberOnTheHostUnlessAskedToThrow) {
  const MetaModel model;
  const at::Tensor norm = clip_grad_norm_(test::one_group(model.parameters), 1.0);
  EXPECT_TRUE(norm.is_meta());
  EXPECT_EQ(norm.scalar_type(), at::kFloat);
  EXPECT_THROW(clip_grad_norm_(test::one_group(model.parameters), 1.0, 2.0, true), c10::Error);
  EXPECT_TRUE(gradient_norm_on_device({on_meta({3}), on_meta({2}, at::kHalf)}).is_meta());
}

}  // namespace
}  // namespace libtrain
