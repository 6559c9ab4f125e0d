#pragma once

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/Generator.h>
#include <c10/core/GeneratorImpl.h>

namespace libtrain::sim {

/// A device's random numbers. Its state is a seed and an offset, as CUDA's; the numbers are those
/// of the CPU generator with this seed, whose kernels draw them, from the offset-th 32-bit draw on.
/// The CPU's keeps half a pair of normal numbers for the next operator, which is dropped here.
class DeviceGenerator final : public c10::GeneratorImpl {
 public:
  explicit DeviceGenerator(c10::DeviceIndex device);

  /// What a CPU kernel takes in this one's place for one operator.
  const at::Generator& for_operator();

  void set_current_seed(uint64_t seed) override;
  /// Takes time in proportion to the offset, some 2 ns a draw.
  void set_offset(uint64_t offset) override;
  uint64_t get_offset() const override;
  uint64_t current_seed() const override;
  uint64_t seed() override;
  /// 16 bytes on the CPU: seed and offset. @throws InvalidOption for another size.
  void set_state(const c10::TensorImpl& state) override;
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override;

 private:
  DeviceGenerator* clone_impl() const override;
  at::CPUGeneratorImpl& cpu() const;
  void start(uint64_t seed, uint64_t offset);

  at::Generator cpu_;
  // An offset that cpu_ has passed or is at, and its engine there.
  mutable uint64_t offset_ = 0;
  mutable at::mt19937 engine_;
};

/// The one that operators on `device` use when they are given none.
const at::Generator& default_generator(c10::DeviceIndex device);

at::Generator new_generator(c10::DeviceIndex device);

}  // namespace libtrain::sim
