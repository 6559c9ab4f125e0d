#include "libtrain/sim/factories.hpp"

#include <ATen/EmptyTensor.h>
#include <c10/core/DeviceGuard.h>

#include "libtrain/core/require.hpp"
#include "libtrain/sim/aliases.hpp"
#include "libtrain/sim/device.hpp"
#include "libtrain/sim/memory.hpp"

namespace libtrain::sim {
namespace {

void require_plain(std::optional<c10::Layout> layout, std::optional<bool> pin_memory) {
  const c10::Layout asked = layout.value_or(c10::kStrided);
  if (asked != c10::kStrided) {
    throw Unsupported(
        fill("[sim.empty] layout={}, expected Strided: the simulated device has no other",
             c10::str(asked)));
  }
  require(!pin_memory.value_or(false),
          "[sim.empty] pin_memory=true, expected false: pinned memory is the host's");
}

}  // namespace

at::Tensor empty(c10::IntArrayRef sizes, std::optional<c10::ScalarType> dtype,
                 std::optional<c10::Layout> layout, std::optional<c10::Device> device,
                 std::optional<bool> pin_memory, std::optional<c10::MemoryFormat> memory_format) {
  require_plain(layout, pin_memory);
  const c10::DeviceGuard guard(device.value_or(c10::Device(kSim)));
  return at::detail::empty_generic(sizes, device_allocator(), tensor_keys(),
                                   c10::dtype_or_default(dtype), memory_format);
}

at::Tensor empty_strided(c10::IntArrayRef sizes, c10::IntArrayRef strides,
                         std::optional<c10::ScalarType> dtype, std::optional<c10::Layout> layout,
                         std::optional<c10::Device> device, std::optional<bool> pin_memory) {
  require_plain(layout, pin_memory);
  const c10::DeviceGuard guard(device.value_or(c10::Device(kSim)));
  return at::detail::empty_strided_generic(sizes, strides, device_allocator(), tensor_keys(),
                                           c10::dtype_or_default(dtype));
}

}  // namespace libtrain::sim
