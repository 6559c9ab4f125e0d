#pragma once

#include <ATen/ATen.h>
#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <gmock/gmock.h>

#include <string>

#include "libtrain/sim/races.hpp"

namespace libtrain::sim::test {

/// A stream of its own on sim:`device`, and the one that operators take by default.
c10::Stream new_stream(c10::DeviceIndex device = 0);
c10::Stream default_stream(c10::DeviceIndex device = 0);

/// `later` waits for all that `earlier` was given until now.
void wait(const c10::Stream& later, const c10::Stream& earlier);
void synchronize(const c10::Stream& stream);
/// The host waits for all devices; races and waits so far are forgotten.
void start_afresh();

/// "stream 3 of sim:0"
std::string name(const c10::Stream& stream);

/// Reproducible values on the CPU.
at::Tensor values(at::IntArrayRef sizes, uint64_t seed);
/// Equal in shape, dtype and every bit.
bool same_bits(const at::Tensor& a, const at::Tensor& b);

}  // namespace libtrain::sim::test
