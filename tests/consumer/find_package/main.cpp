// Names that a program of this kind is likely to have already.
struct Scalar {};
struct Tensor {};
struct Module {};
struct Batch {};
struct Plan {};
struct Error {};

#include <ATen/ops/ones.h>
#include <libtrain/libtrain.hpp>

#include <cstdio>

namespace lt = libtrain;

int main() {
  [[maybe_unused]] const Scalar scalar;
  [[maybe_unused]] const Tensor tensor;
  [[maybe_unused]] const Module module;
  [[maybe_unused]] const Batch batch;
  [[maybe_unused]] const Plan plan;
  [[maybe_unused]] const Error error;

  const lt::Runtime runtime({.device = "cpu", .threads = 1});
  std::printf("%s\n", lt::explain(runtime.plan()).c_str());
  return at::ones({3}).sum().item<double>() == 3 ? 0 : 1;
}
