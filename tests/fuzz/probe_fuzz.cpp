#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "libtrain/core/text.hpp"
#include "libtrain/probe/probe.hpp"
#include "tests/support/fake_sources.hpp"

/// The input is a tree of files: a line "== PATH" starts one. Whatever the kernel's files hold,
/// the probe gives facts, and they read back.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  libtrain::FakeSources sources;
  sources.name = {"Linux", "6.1.0", "x86_64", "glibc 2.36"};
  sources.affinity_mask = {0, 1, 2, 3};
  std::string path;
  for (const std::string_view line :
       libtrain::split({reinterpret_cast<const char*>(data), size}, '\n')) {
    if (line.starts_with("== ")) {
      path = line.substr(3);
    } else if (path == "LOG") {
      sources.log.emplace(sources.log.value_or("")).append(line).push_back('\n');
    } else {
      sources.files[path].append(line).push_back('\n');
    }
  }
  const libtrain::MachineFacts facts = libtrain::probe_machine(sources);
  if (libtrain::parse_machine_facts(libtrain::format_machine_facts(facts), "again") != facts) {
    std::abort();
  }
  return 0;
}
