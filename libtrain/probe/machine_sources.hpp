#pragma once

#include "libtrain/probe/sources.hpp"

namespace libtrain {

/// The machine this process runs on.
class LT_API MachineSources final : public Sources {
 public:
  std::optional<std::string> read(const std::string& path) const override;
  std::vector<std::string> list(const std::string& path) const override;
  std::optional<std::string> resolve(const std::string& path) const override;
  std::optional<std::string> kernel_log() const override;
  std::map<std::string, std::string> environment() const override;
  std::optional<CpuidRegisters> cpuid(uint32_t leaf, uint32_t subleaf) const override;
  uint64_t xcr0() const override;
  std::vector<int> affinity() const override;
  SystemName system_name() const override;
  std::optional<int64_t> file_system_bytes(const std::string& path) const override;
  std::optional<int64_t> file_system_free_bytes(const std::string& path) const override;
  std::optional<bool> writable(const std::string& path) const override;
  std::optional<std::map<std::string, std::vector<std::string>>> addresses() const override;
  std::shared_ptr<const DynamicLibrary> open_library(const std::string& name) const override;
};

}  // namespace libtrain
