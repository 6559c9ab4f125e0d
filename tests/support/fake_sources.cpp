#include "tests/support/fake_sources.hpp"

#include <set>

namespace libtrain {
namespace {

template <class Map, class Key>
auto find(const Map& map, const Key& key) {
  const auto at = map.find(key);
  return at == map.end() ? std::nullopt : std::optional(at->second);
}

}  // namespace

std::optional<std::string> FakeSources::read(const std::string& path) const {
  return find(files, path);
}

std::vector<std::string> FakeSources::list(const std::string& path) const {
  const std::string start = path + "/";
  std::set<std::string> names;
  for (const auto& [file, contents] : files) {
    if (file.starts_with(start)) {
      const std::string below = file.substr(start.size());
      names.insert(below.substr(0, below.find('/')));
    }
  }
  return {names.begin(), names.end()};
}

std::optional<std::string> FakeSources::resolve(const std::string& path) const {
  return find(links, path);
}

std::optional<CpuidRegisters> FakeSources::cpuid(uint32_t leaf, uint32_t subleaf) const {
  return find(cpuid_leaves, std::pair(leaf, subleaf));
}

std::optional<int64_t> FakeSources::file_system_bytes(const std::string& path) const {
  return find(file_systems, path);
}

std::optional<int64_t> FakeSources::file_system_free_bytes(const std::string& path) const {
  return find(free_bytes, path);
}

std::optional<bool> FakeSources::writable(const std::string& path) const {
  return find(writable_folders, path);
}

std::shared_ptr<const DynamicLibrary> FakeSources::open_library(const std::string& library) const {
  return find(libraries, library).value_or(nullptr);
}

}  // namespace libtrain
