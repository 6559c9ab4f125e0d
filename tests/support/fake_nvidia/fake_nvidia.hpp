#pragma once

#include <memory>
#include <set>
#include <string>

#include "libtrain/probe/sources.hpp"

namespace libtrain {

/// A machine's NVIDIA driver: the libraries libnvidia-ml.so.1 and libcuda.so.1 of this folder,
/// which answer from a description (description.hpp) and from nothing else. One at a time.
class FakeNvidia {
 public:
  /// `description` is the text itself.
  explicit FakeNvidia(const std::string& description = "");
  ~FakeNvidia();
  FakeNvidia(const FakeNvidia&) = delete;
  FakeNvidia& operator=(const FakeNvidia&) = delete;

  /// Takes the place of the description; read at the next nvmlInit_v2 or cuInit.
  void describe(const std::string& description) const;

  /// The libraries; functions named in `missing` are not in them, as in those of older drivers.
  static std::shared_ptr<const DynamicLibrary> nvml(std::set<std::string> missing = {});
  static std::shared_ptr<const DynamicLibrary> cuda();

  /// How often a function that starts or ends the driver was called in this process.
  int calls_here(const std::string& function) const;

 private:
  std::string file_;
};

/// A description in tests/nvidia/.
std::string nvidia_description(const std::string& name);

}  // namespace libtrain
