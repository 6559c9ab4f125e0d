#include "libtrain/sim/dropout.hpp"

#include <ATen/ops/empty_like.h>
#include <ATen/ops/ones_like.h>

namespace libtrain::sim {

std::tuple<at::Tensor, at::Tensor> native_dropout(const at::Tensor& input, double p,
                                                  std::optional<bool> train) {
  const at::TensorOptions as_mask = input.options().dtype(at::kBool);
  if (!train.value_or(true)) {
    return {input.clone(), at::ones_like(input, as_mask)};
  }
  at::Tensor mask = at::empty_like(input, as_mask);
  mask.bernoulli_(1 - p);
  return {input.mul(mask).mul_(p == 1 ? 0.0 : 1 / (1 - p)), mask};
}

}  // namespace libtrain::sim
