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

/// libtrain finds libtrain_sim, which nothing here names.
bool simulates() {
  lt::MachineFacts machine;
  machine.library.torch_version = "2.15.0+cu132";
  machine.library.cuda_version = "13.2";
  machine.gpu_driver.driver_version = "580.65.06";
  machine.gpus.resize(1);
  machine.gpus[0].cuda_index = 0;
  const lt::Runtime runtime = lt::Runtime::simulated({}, machine);
  return at::ones({3}, runtime.device()).sum().item<double>() == 3 &&
         runtime.simulation()->host_waits() == 1;
}

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
  return at::ones({3}).sum().item<double>() == 3 && simulates() ? 0 : 1;
}
