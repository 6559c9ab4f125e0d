#pragma once

#include <c10/core/DeviceType.h>
#include <c10/core/ScalarType.h>

#include "libtrain/core/api.hpp"

namespace libtrain {

/// Autocast's setting for one device type in one thread.
struct AutocastState {
  c10::DeviceType device = c10::DeviceType::CPU;
  c10::ScalarType dtype = c10::ScalarType::BFloat16;
  bool enabled = false;
  bool cache_enabled = true;
};

/// The calling thread's setting. Throws Unsupported for a device without autocast.
LT_API AutocastState autocast_state(c10::DeviceType device);

/// Runs the operators of its scope in `dtype` where autocast's lists say so; which ones depends on
/// the device (CUDA keeps softmax and layer norm in fp32, the CPU does not). Guards nest, also
/// disabled in enabled. Leaving one, by an exception too, restores what was before; leaving the
/// outermost of a thread clears the cache of cast weights, which may hold a cast of every weight
/// until then.
///
/// End the guard before backward(): gradients take the dtypes of the forward pass by themselves. A
/// guard holds for its own thread alone; ThreadState carries it into another. A custom function
/// whose backward runs operators keeps autocast_state() in forward and opens a guard on it in
/// backward, which autograd may run in a thread of its own.
class LT_API Autocast {
 public:
  /// `cache_enabled` false casts weights at every use, as capturing a CUDA graph requires. Throws
  /// InvalidOption when enabled with a dtype other than Half and BFloat16, Unsupported for a device
  /// without autocast.
  Autocast(c10::DeviceType device, c10::ScalarType dtype, bool enabled = true,
           bool cache_enabled = true);
  explicit Autocast(const AutocastState& state);
  ~Autocast();
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;
  Autocast(Autocast&&) = delete;
  Autocast& operator=(Autocast&&) = delete;

 private:
  AutocastState previous_;
};

}  // namespace libtrain
