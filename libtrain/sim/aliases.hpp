#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Stream.h>
#include <c10/util/SmallVector.h>

#include <string_view>

namespace libtrain::sim {

/// The keys of a simulated tensor. HPU beside PrivateUse1 changes neither dispatch nor device; it
/// lets `Module::to` exchange a parameter's data, which LibTorch allows for devices it knows only.
c10::DispatchKeySet tensor_keys();

/// For the length of one operator: CPU tensors over the memory of simulated ones, and the way back.
class Aliases {
 public:
  /// The device and stream that results belong to, and who makes them.
  Aliases(std::string_view op, c10::Stream stream) : op_(op), stream_(stream) {}

  /// The CPU tensor over `tensor`'s memory. What is not on the device stays what it is.
  at::Tensor to_cpu(const at::Tensor& tensor);

  /// The simulated tensor that a CPU operator's result stands for: an argument, a view of one, or
  /// new.
  /// @throws Unsupported for a result that is not strided, c10::OutOfMemoryError.
  at::Tensor to_sim(const at::Tensor& result);

  /// Gives an argument that the operator has written the size and memory that its alias has now.
  void carry_back(const at::Tensor& tensor);

 private:
  template <class T>
  struct Pair {
    T sim;
    T cpu;
  };

  c10::Storage storage_to_cpu(const c10::Storage& storage);
  c10::Storage storage_to_sim(const c10::Storage& storage);

  std::string_view op_;
  c10::Stream stream_;
  // Searched from the front: most operators have a handful.
  c10::SmallVector<Pair<at::Tensor>, 8> tensors_;
  c10::SmallVector<Pair<c10::Storage>, 8> storages_;
};

}  // namespace libtrain::sim
