#include "sim_support.hpp"

#include <c10/core/impl/VirtualGuardImpl.h>
#include <gtest/gtest.h>

#include <cstring>

#include "libtrain/sim/host_waits.hpp"
#include "libtrain/sim/sim.hpp"

namespace libtrain::sim::test {
namespace {

const c10::impl::VirtualGuardImpl& guard() {
  static const c10::impl::VirtualGuardImpl guard(c10::DeviceType::PrivateUse1);
  return guard;
}

/// Two devices for every test of this program, made before any of them runs.
struct Devices : testing::Environment {
  void SetUp() override { enable(2); }
};

const auto* const kDevices = testing::AddGlobalTestEnvironment(new Devices);

}  // namespace

c10::Stream new_stream(c10::DeviceIndex index) { return guard().getNewStream(device(index)); }

c10::Stream default_stream(c10::DeviceIndex index) {
  return guard().getDefaultStream(device(index));
}

void wait(const c10::Stream& later, const c10::Stream& earlier) {
  c10::Event event(c10::DeviceType::PrivateUse1);
  event.record(earlier);
  event.block(later);
}

void synchronize(const c10::Stream& stream) { guard().synchronizeStream(stream); }

void start_afresh() {
  guard().synchronizeDevice(0);
  guard().synchronizeDevice(1);
  clear_races();
  clear_host_waits();
}

std::string name(const c10::Stream& stream) {
  return "stream " + std::to_string(stream.id()) +
         " of sim:" + std::to_string(stream.device_index());
}

at::Tensor values(at::IntArrayRef sizes, uint64_t seed) {
  return at::randn(sizes, at::make_generator<at::CPUGeneratorImpl>(seed), at::kFloat);
}

bool same_bits(const at::Tensor& a, const at::Tensor& b) {
  const at::Tensor x = a.cpu().contiguous();
  const at::Tensor y = b.cpu().contiguous();
  return x.sizes() == y.sizes() && x.dtype() == y.dtype() && x.is_cpu() &&
         std::memcmp(x.const_data_ptr(), y.const_data_ptr(), x.nbytes()) == 0;
}

}  // namespace libtrain::sim::test
