#include "tests/support/fake_nvidia/fake_nvidia.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <utility>

#include "libtrain/core/file_system.hpp"
#include "libtrain/core/text.hpp"

namespace libtrain {
namespace {

class LibraryFile final : public DynamicLibrary {
 public:
  LibraryFile(const std::string& name, std::set<std::string> missing)
      : missing_(std::move(missing)) {
    const std::string path = libtrain::fill("{}/{}", FAKE_NVIDIA_FOLDER, name);
    handle_ = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ == nullptr) {
      throw std::runtime_error(path + ": " + ::dlerror());
    }
  }
  void* symbol(const char* name) const override {
    return missing_.contains(name) ? nullptr : ::dlsym(handle_, name);
  }

 private:
  void* handle_;  // never closed, as the probe never closes the real ones
  std::set<std::string> missing_;
};

}  // namespace

FakeNvidia::FakeNvidia(const std::string& description)
    : file_(std::filesystem::temp_directory_path() /
            fill("fake-nvidia-{}", static_cast<int64_t>(::getpid()))) {
  describe(description);
  ::setenv("LIBTRAIN_FAKE_NVIDIA", file_.c_str(), 1);
  ::setenv("LIBTRAIN_FAKE_NVIDIA_LOG", (file_ + ".log").c_str(), 1);
}

FakeNvidia::~FakeNvidia() {
  ::unsetenv("LIBTRAIN_FAKE_NVIDIA");
  ::unsetenv("LIBTRAIN_FAKE_NVIDIA_LOG");
  std::filesystem::remove(file_);
  std::filesystem::remove(file_ + ".log");
}

void FakeNvidia::describe(const std::string& description) const {
  std::ofstream(file_) << description;
}

std::shared_ptr<const DynamicLibrary> FakeNvidia::nvml(std::set<std::string> missing) {
  return std::make_shared<LibraryFile>("libnvidia-ml.so.1", std::move(missing));
}

std::shared_ptr<const DynamicLibrary> FakeNvidia::cuda() {
  return std::make_shared<LibraryFile>("libcuda.so.1", std::set<std::string>{});
}

int FakeNvidia::calls_here(const std::string& function) const {
  int calls = 0;
  std::ifstream log(file_ + ".log");
  std::string name;
  for (pid_t process = 0; log >> name >> process;) {
    calls += name == function && process == ::getpid() ? 1 : 0;
  }
  return calls;
}

std::string nvidia_description(const std::string& name) {
  return read_file(libtrain::fill("{}/nvidia/{}.txt", LIBTRAIN_TEST_DATA, name));
}

}  // namespace libtrain
