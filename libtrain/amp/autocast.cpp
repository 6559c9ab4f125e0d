#include "libtrain/amp/autocast.hpp"

#include <ATen/autocast_mode.h>

#include "libtrain/core/require.hpp"

namespace libtrain {
namespace {

void apply(const AutocastState& state) {
  at::autocast::set_autocast_enabled(state.device, state.enabled);
  at::autocast::set_autocast_dtype(state.device, state.dtype);
  at::autocast::set_autocast_cache_enabled(state.cache_enabled);
}

void check_device(c10::DeviceType device) {
  require<Unsupported>(at::autocast::is_autocast_available(device),
                       "[amp.autocast] there is no autocast for device type {}",
                       c10::DeviceTypeName(device, /*lower_case=*/true));
}

void check_dtype(const AutocastState& state) {
  require(!state.enabled || state.dtype == at::kHalf || state.dtype == at::kBFloat16,
          "[amp.autocast] dtype={}, expected Half or BFloat16; for fp32 pass enabled=false",
          c10::toString(state.dtype));
}

}  // namespace

AutocastState autocast_state(c10::DeviceType device) {
  check_device(device);
  return {device, at::autocast::get_autocast_dtype(device),
          at::autocast::is_autocast_enabled(device), at::autocast::is_autocast_cache_enabled()};
}

Autocast::Autocast(c10::DeviceType device, c10::ScalarType dtype, bool enabled, bool cache_enabled)
    : Autocast(AutocastState{device, dtype, enabled, cache_enabled}) {}

Autocast::Autocast(const AutocastState& state) : previous_(autocast_state(state.device)) {
  check_dtype(state);
  at::autocast::increment_nesting();
  apply(state);
}

Autocast::~Autocast() {
  if (at::autocast::decrement_nesting() == 0) {
    at::autocast::clear_cache();
  }
  apply(previous_);
}

}  // namespace libtrain
