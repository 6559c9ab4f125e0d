#include "libtrain/runtime/host_copy.hpp"

namespace libtrain {

at::Tensor to_device(const at::Tensor& host, at::Device device) {
  return device.is_cpu() ? host
                         : host.pin_memory().to(device, host.scalar_type(), /*non_blocking=*/true);
}

}  // namespace libtrain
