// libcuda.so.1 without a GPU: the devices of a description.
#include <cstring>

#include "tests/support/fake_nvidia/description.hpp"

#define CUDA extern "C" __attribute__((visibility("default")))

namespace {

fake_nvidia::Description machine;

const fake_nvidia::Part& part(int device) {
  return machine.cuda_devices[static_cast<size_t>(device)];
}

}  // namespace

CUDA int cuInit(unsigned) {
  fake_nvidia::log_call(__func__);
  machine = fake_nvidia::read_description();
  return machine.system.refusal(__func__);
}
CUDA int cuDriverGetVersion(int* version) {
  *version = static_cast<int>(fake_nvidia::read_description().system.number("cuda", 13000));
  return 0;
}
CUDA int cuGetErrorString(int result, const char** text) {
  *text = result == 803 ? "system has unsupported display driver / cuda driver combination"
                        : "no CUDA-capable device is detected";
  return 0;
}
CUDA int cuDeviceGetCount(int* count) {
  *count = static_cast<int>(machine.cuda_devices.size());
  return machine.system.refusal(__func__);
}
CUDA int cuDeviceGet(int* device, int index) {
  *device = index;
  return machine.cuda_devices[static_cast<size_t>(index)].refusal(__func__);
}
CUDA int cuDeviceGetName(char* buffer, int size, int device) {
  return fake_nvidia::copy_text(part(device).text("name", "NVIDIA A100-SXM4-40GB"), buffer,
                                static_cast<size_t>(size));
}
CUDA int cuDeviceGetPCIBusId(char* buffer, int size, int device) {
  return fake_nvidia::copy_text(part(device).text("bus_id", "0000:17:00.0"), buffer,
                                static_cast<size_t>(size));
}
CUDA int cuDeviceGetUuid_v2(void* bytes, int device) {
  std::memset(bytes, static_cast<int>(part(device).number("uuid_byte")), 16);  // sixteen times
  return 0;
}
CUDA int cuDeviceGetAttribute(int* value, int attribute, int device) {
  constexpr int kMajor = 75;
  constexpr int kMinor = 76;
  *value = static_cast<int>(attribute == kMajor   ? part(device).number("major", 8)
                            : attribute == kMinor ? part(device).number("minor")
                                                  : part(device).number("multiprocessors", 108));
  return 0;
}
CUDA int cuDeviceTotalMem_v2(size_t* bytes, int device) {
  *bytes = static_cast<size_t>(part(device).number("memory", 40LL << 30U));
  return 0;
}
