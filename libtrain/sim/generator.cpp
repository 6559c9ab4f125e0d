#include "libtrain/sim/generator.hpp"

#include <ATen/EmptyTensor.h>

#include <array>
#include <cstring>

#include "libtrain/core/require.hpp"
#include "libtrain/sim/device.hpp"

namespace libtrain::sim {
namespace {

constexpr size_t kStateBytes = 2 * sizeof(uint64_t);
/// An engine makes its numbers in blocks of this many.
constexpr uint64_t kBlock = at::MERSENNE_STATE_N;

/// To the first number of the next block, which it draws.
void enter_next_block(at::mt19937& engine) {
  at::mt19937_data_pod data = engine.data();
  data.left_ = 1;
  engine.set_data(data);
  engine();
}

at::mt19937 engine_at(uint64_t seed, uint64_t offset) {
  at::mt19937 engine(seed);
  for (uint64_t i = 0; i < offset / kBlock; ++i) {
    enter_next_block(engine);
  }
  // A new engine is at the end of a block, one that has entered a block at its second number.
  if (offset >= kBlock) {
    at::mt19937_data_pod data = engine.data();
    data.left_ = 1;
    data.next_ = kBlock;
    engine.set_data(data);
  }
  for (uint64_t i = 0; i < offset % kBlock; ++i) {
    engine();
  }
  return engine;
}

/// How many numbers `engine` has drawn since it was `earlier`.
uint64_t draws_between(at::mt19937 earlier, const at::mt19937& engine) {
  const at::mt19937_data_pod end = engine.data();
  uint64_t draws = 0;
  for (at::mt19937_data_pod at = earlier.data(); at.state_ != end.state_; at = earlier.data()) {
    draws += static_cast<uint64_t>(at.left_);  // with the first of the next block
    enter_next_block(earlier);
  }
  return draws + end.next_ - earlier.data().next_;
}

}  // namespace

DeviceGenerator::DeviceGenerator(c10::DeviceIndex device)
    : GeneratorImpl({kSim, device}, c10::DispatchKeySet(c10::DispatchKey::PrivateUse1)),
      cpu_(at::detail::createCPUGenerator()),
      engine_(cpu().engine()) {}

at::CPUGeneratorImpl& DeviceGenerator::cpu() const { return *cpu_.get<at::CPUGeneratorImpl>(); }

void DeviceGenerator::start(uint64_t seed, uint64_t offset) {
  const std::lock_guard lock(cpu().mutex_);
  cpu().set_current_seed(seed);
  engine_ = engine_at(seed, offset);
  cpu().set_engine(engine_);
  offset_ = offset;
}

const at::Generator& DeviceGenerator::for_operator() {
  const std::lock_guard lock(cpu().mutex_);
  cpu().set_next_float_normal_sample(std::nullopt);
  cpu().set_next_double_normal_sample(std::nullopt);
  return cpu_;
}

void DeviceGenerator::set_current_seed(uint64_t seed) { start(seed, 0); }

void DeviceGenerator::set_offset(uint64_t offset) { start(current_seed(), offset); }

uint64_t DeviceGenerator::get_offset() const {
  const std::lock_guard lock(cpu().mutex_);
  const at::mt19937 engine = cpu().engine();
  offset_ += draws_between(engine_, engine);
  engine_ = engine;
  return offset_;
}

uint64_t DeviceGenerator::current_seed() const { return cpu_.current_seed(); }

uint64_t DeviceGenerator::seed() {
  const uint64_t seed = c10::detail::getNonDeterministicRandom();
  start(seed, 0);
  return seed;
}

void DeviceGenerator::set_state(const c10::TensorImpl& state) {
  at::detail::check_rng_state(state);
  require(state.numel() == kStateBytes,
          "[sim.generator] state has {} bytes, expected {}: 8 of the seed, 8 of the offset",
          state.numel(), kStateBytes);
  std::array<uint64_t, 2> seed_and_offset{};
  std::memcpy(seed_and_offset.data(), state.data(), kStateBytes);
  start(seed_and_offset[0], seed_and_offset[1]);
}

c10::intrusive_ptr<c10::TensorImpl> DeviceGenerator::get_state() const {
  const std::array<uint64_t, 2> seed_and_offset{current_seed(), get_offset()};
  const at::TensorBase state = at::detail::empty_cpu({kStateBytes}, c10::TensorOptions(c10::kByte));
  std::memcpy(state.mutable_data_ptr(), seed_and_offset.data(), kStateBytes);
  return state.getIntrusivePtr();
}

DeviceGenerator* DeviceGenerator::clone_impl() const {
  auto* clone = new DeviceGenerator(device().index());
  clone->start(current_seed(), get_offset());
  return clone;
}

const at::Generator& default_generator(c10::DeviceIndex device) {
  const c10::DeviceIndex index = device == -1 ? current_device() : device;
  require_device(index);
  // Never destroyed: threads may draw until the end of the process.
  static auto* generators = [] {
    auto* made = new std::array<at::Generator, kMaxDevices>;
    for (int i = 0; i < kMaxDevices; ++i) {
      (*made)[i] = at::make_generator<DeviceGenerator>(static_cast<c10::DeviceIndex>(i));
    }
    return made;
  }();
  return (*generators)[index];
}

at::Generator new_generator(c10::DeviceIndex device) {
  const c10::DeviceIndex index = device == -1 ? current_device() : device;
  require_device(index);
  return at::make_generator<DeviceGenerator>(index);
}

}  // namespace libtrain::sim
