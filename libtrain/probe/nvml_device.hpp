#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "libtrain/facts/gpu.hpp"
#include "libtrain/probe/nvml_call.hpp"

namespace libtrain {

namespace nvml {

using Buffer = std::array<char, 128>;

std::optional<std::string> text_of(Buffer& buffer);

/// Nothing is wrong with a device that does not answer a question in one of these ways.
bool is_no_answer(int result);

/// NVML's 64-bit counts say "not available" by all bits set.
std::optional<int64_t> count_of(unsigned long long value);

}  // namespace nvml

/// The questions to one device. Each names the fact it is for: a question without an answer is kept
/// as the reason why that fact is unknown, the first real failure as the device's problem.
class DeviceReader {
 public:
  DeviceReader(const NvmlCalls& nvml, nvml::Device device) : nvml_(nvml), device_(device) {}

  template <class... Args>
  bool ask(const char* fact, const char* name, Args... args) {
    const int result = nvml_(name, device_, args...);
    if (result != nvml::kSuccess) {
      note(fact, name, result);
    }
    return result == nvml::kSuccess;
  }

  /// Of a question that a sound device may refuse in any way: no answer is a problem.
  template <class... Args>
  bool ask_aside(const char* fact, const char* name, Args... args) {
    const int result = nvml_(name, device_, args...);
    if (result != nvml::kSuccess) {
      note_unknown(fact, name, result);
    }
    return result == nvml::kSuccess;
  }

  std::optional<std::string> text(const char* fact, const char* name);
  std::optional<int> number(const char* fact, const char* name);
  /// Its place on the bus, and which chip and board it is.
  void read_pci(GpuFacts& facts);
  std::optional<ComputeCapability> compute_capability();
  void read_memory(GpuFacts& facts);
  /// The CPUs beside it, in the kernel's list form.
  std::optional<std::string> cpu_affinity();
  /// Links of NVLink, how many of them are up, and where those end.
  void read_links(GpuFacts& facts);

  const std::map<std::string, std::string>& unknown() const { return unknown_; }
  const std::optional<std::string>& problem() const { return problem_; }

 private:
  std::optional<std::string> link_peer(unsigned link);
  std::optional<std::vector<std::string>> link_peers(const std::vector<unsigned>& links);
  void note(const char* fact, const char* name, int result);
  void note_unknown(const char* fact, const char* name, int result);

  const NvmlCalls& nvml_;
  nvml::Device device_;
  std::map<std::string, std::string> unknown_;
  std::optional<std::string> problem_;
};

}  // namespace libtrain
