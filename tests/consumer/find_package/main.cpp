// Names that a program of this kind is likely to have already.
struct Scalar {};
struct Tensor {};
struct Module {};
struct Device {};
struct Batch {};

#include <libtrain/runtime/packed.hpp>
#include <libtrain/runtime/parameters.hpp>

int main() {
  [[maybe_unused]] const Scalar scalar;
  [[maybe_unused]] const Tensor tensor;
  [[maybe_unused]] const Module module;
  [[maybe_unused]] const Device device;
  [[maybe_unused]] const Batch batch;
  return 0;
}
