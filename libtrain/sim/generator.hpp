#pragma once

#include <ATen/core/Generator.h>
#include <c10/core/GeneratorImpl.h>

namespace libtrain::sim {

/// A device's random numbers: those of the CPU generator with the same seed, since the CPU's
/// kernels draw them. Its state is the CPU generator's.
class DeviceGenerator final : public c10::GeneratorImpl {
 public:
  DeviceGenerator(c10::DeviceIndex device, at::Generator cpu);

  /// What the CPU's kernels take in this one's place; it shares its state.
  const at::Generator& cpu() const { return cpu_; }

  void set_current_seed(uint64_t seed) override;
  void set_offset(uint64_t offset) override;
  uint64_t get_offset() const override;
  uint64_t current_seed() const override;
  uint64_t seed() override;
  void set_state(const c10::TensorImpl& state) override;
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override;

 private:
  DeviceGenerator* clone_impl() const override;

  at::Generator cpu_;
};

/// The one that operators on `device` use when they are given none.
const at::Generator& default_generator(c10::DeviceIndex device);

at::Generator new_generator(c10::DeviceIndex device);

}  // namespace libtrain::sim
