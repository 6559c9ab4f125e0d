#pragma once

#include <string>
#include <utility>
#include <vector>

#include "libtrain/facts/machine.hpp"
#include "libtrain/plan/request.hpp"
#include "libtrain/plan/target.hpp"

namespace libtrain::examples {

/// Compiled targets of the x86-64 wheel of torch 2.15.0.
inline const std::vector<std::string> kTargetsOf215 = {"sm_75", "sm_80",  "sm_86",
                                                       "sm_90", "sm_100", "sm_120"};

inline GpuFacts gpu(int cuda_index, ComputeCapability capability, std::string name) {
  GpuFacts facts;
  facts.cuda_index = cuda_index;
  facts.compute_capability = capability;
  facts.name = std::move(name);
  return facts;
}

/// A working machine with one A100 and the wheel of torch 2.15.0.
inline MachineFacts a100_machine() {
  MachineFacts machine;
  machine.host.os = "linux";
  machine.host.libc = "glibc 2.36";
  machine.host.wsl = false;
  machine.cpu.affinity_cores = 16;
  machine.gpu_driver.driver_version = "595.45.04";
  machine.gpu_driver.driver_cuda_version = "13.2";
  machine.gpus.push_back(gpu(0, {8, 0}, "NVIDIA A100-SXM4-80GB"));
  machine.library.torch_version = "2.15.0+cu132";
  machine.library.cuda_version = "13.2";
  machine.library.cudnn_version = "9.26.0.51";
  machine.library.cuda_archs = kTargetsOf215;
  return machine;
}

/// A machine without a GPU, with the same wheel.
inline MachineFacts cpu_machine() {
  MachineFacts machine = a100_machine();
  machine.gpu_driver = {};
  machine.gpus.clear();
  machine.cpu.avx512_bf16 = false;
  machine.cpu.amx_bf16 = false;
  return machine;
}

inline Target cuda_target(ComputeCapability capability) {
  return {.type = DeviceType::kCuda,
          .capability = capability,
          .tensor_cores = capability >= ComputeCapability{7, 0}};
}

inline Target cpu_target() { return {}; }

template <class T>
Request<T> program_asks(T value) {
  return {std::move(value), Source::kAsked, "asked by the program"};
}

}  // namespace libtrain::examples
