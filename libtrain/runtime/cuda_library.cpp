// Brings LibTorch's CUDA half into a program that was linked to its CPU half alone.
//
// LibTorch decides whether CUDA exists at the first question for it and keeps the answer, so the
// load must come before any such question: in this library's initialiser. It happens only on a
// machine with an NVIDIA driver, since it doubles a program's start-up time and quadruples its
// memory, and it touches no device.

#include <dlfcn.h>
#include <unistd.h>

#include <initializer_list>

namespace libtrain {
namespace {

bool driver_is_present() {
  for (const char* path : {"/proc/driver/nvidia/version", "/dev/nvidiactl", "/dev/dxg"}) {
    if (::access(path, F_OK) == 0) {
      return true;
    }
  }
  return false;
}

__attribute__((constructor)) void load_cuda_library() {
  if (driver_is_present()) {
    ::dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_GLOBAL);  // a CPU build of torch has none
  }
}

}  // namespace
}  // namespace libtrain
