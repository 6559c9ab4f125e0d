#include "libtrain/sim/generator.hpp"

#include <ATen/CPUGeneratorImpl.h>

#include <array>

#include "libtrain/sim/device.hpp"

namespace libtrain::sim {

DeviceGenerator::DeviceGenerator(c10::DeviceIndex device, at::Generator cpu)
    : GeneratorImpl({kSim, device}, c10::DispatchKeySet(c10::DispatchKey::PrivateUse1)),
      cpu_(std::move(cpu)) {}

void DeviceGenerator::set_current_seed(uint64_t seed) { cpu_.set_current_seed(seed); }

void DeviceGenerator::set_offset(uint64_t offset) { cpu_.set_offset(offset); }

uint64_t DeviceGenerator::get_offset() const { return cpu_.get_offset(); }

uint64_t DeviceGenerator::current_seed() const { return cpu_.current_seed(); }

uint64_t DeviceGenerator::seed() { return cpu_.seed(); }

void DeviceGenerator::set_state(const c10::TensorImpl& state) {
  cpu_.unsafeGetGeneratorImpl()->set_state(state);
}

c10::intrusive_ptr<c10::TensorImpl> DeviceGenerator::get_state() const {
  return cpu_.unsafeGetGeneratorImpl()->get_state();
}

DeviceGenerator* DeviceGenerator::clone_impl() const {
  return new DeviceGenerator(device().index(), cpu_.clone());
}

const at::Generator& default_generator(c10::DeviceIndex device) {
  const c10::DeviceIndex index = device == -1 ? current_device() : device;
  require_device(index);
  // Never destroyed: threads may draw until the end of the process.
  static auto* generators = [] {
    auto* made = new std::array<at::Generator, kMaxDevices>;
    for (int i = 0; i < kMaxDevices; ++i) {
      (*made)[i] = at::make_generator<DeviceGenerator>(static_cast<c10::DeviceIndex>(i),
                                                       at::detail::createCPUGenerator());
    }
    return made;
  }();
  return (*generators)[index];
}

at::Generator new_generator(c10::DeviceIndex device) {
  const c10::DeviceIndex index = device == -1 ? current_device() : device;
  require_device(index);
  return at::make_generator<DeviceGenerator>(index, at::detail::createCPUGenerator());
}

}  // namespace libtrain::sim
