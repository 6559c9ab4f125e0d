#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libtrain/probe/sources.hpp"

namespace libtrain {

/// A library that exports what a test puts into it.
class FakeLibrary final : public DynamicLibrary {
 public:
  void* symbol(const char* name) const override {
    const auto at = symbols.find(name);
    return at == symbols.end() ? nullptr : at->second;
  }

  std::map<std::string, void*> symbols;
};

/// A machine made of what a test writes down; all else is missing.
class FakeSources final : public Sources {
 public:
  std::optional<std::string> read(const std::string& path) const override;
  std::vector<std::string> list(const std::string& path) const override;
  std::optional<std::string> resolve(const std::string& path) const override;
  std::optional<std::string> kernel_log() const override { return log; }
  std::map<std::string, std::string> environment() const override { return variables; }
  std::optional<CpuidRegisters> cpuid(uint32_t leaf, uint32_t subleaf) const override;
  uint64_t xcr0() const override { return saved_registers; }
  std::vector<int> affinity() const override { return affinity_mask; }
  SystemName system_name() const override { return name; }
  std::optional<int64_t> file_system_bytes(const std::string& path) const override;
  std::optional<int64_t> file_system_free_bytes(const std::string& path) const override;
  std::optional<bool> writable(const std::string& path) const override;
  std::optional<std::map<std::string, std::vector<std::string>>> addresses() const override {
    return interface_addresses;
  }
  std::shared_ptr<const DynamicLibrary> open_library(const std::string& library) const override;

  std::map<std::string, std::string> files;
  std::map<std::string, std::string> links;
  std::optional<std::string> log;
  std::map<std::string, std::string> variables;
  std::map<std::pair<uint32_t, uint32_t>, CpuidRegisters> cpuid_leaves;
  uint64_t saved_registers = 0;
  std::vector<int> affinity_mask;
  SystemName name;
  std::map<std::string, int64_t> file_systems;
  std::map<std::string, int64_t> free_bytes;
  std::map<std::string, bool> writable_folders;
  std::optional<std::map<std::string, std::vector<std::string>>> interface_addresses;
  std::map<std::string, std::shared_ptr<const DynamicLibrary>> libraries;
};

}  // namespace libtrain
