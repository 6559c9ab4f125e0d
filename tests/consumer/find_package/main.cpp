#include <ATen/ops/ones.h>
#include <libtrain/libtrain.hpp>

#include <cstdio>

// Names that a program of this kind is likely to have. They come after the headers: LibTorch's own
// do not bear a global Device before them.
struct Scalar {};
struct Tensor {};
struct Module {};
struct Device {};
struct Batch {};
struct Plan {};
struct Error {};

namespace lt = libtrain;

int main() {
  [[maybe_unused]] const Scalar scalar;
  [[maybe_unused]] const Tensor tensor;
  [[maybe_unused]] const Module module;
  [[maybe_unused]] const Device device;
  [[maybe_unused]] const Batch batch;
  [[maybe_unused]] const Plan plan;
  [[maybe_unused]] const Error error;

  const lt::Runtime runtime({.device = "cpu", .threads = 1});
  std::printf("%s\n", lt::explain(runtime.plan()).c_str());
  return at::ones({3}).sum().item<double>() == 3 ? 0 : 1;
}
