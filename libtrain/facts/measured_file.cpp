#include "libtrain/facts/measured_file.hpp"

#include <cstdint>

#include "libtrain/core/text.hpp"
#include "libtrain/facts/fact_lines.hpp"

namespace libtrain {
namespace {

/// FNV-1a, 64 bits (Fowler, Noll, Vo): names files, keeps no secrets.
uint64_t hash(std::string_view text) {
  uint64_t value = 0xcbf29ce484222325;
  for (const char byte : text) {
    value = (value ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  }
  return value;
}

std::string hexadecimal(uint64_t value) {
  std::string digits(16, '0');
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit, value >>= 4) {
    *digit = "0123456789abcdef"[value & 15];
  }
  return digits;
}

}  // namespace

std::string measured_for(const MachineFacts& machine) {
  std::string out;
  const auto add = [&](std::string_view name, const auto& fact) {
    out += fill("{}{} {}", out.empty() ? "" : ", ", name, fact ? format_value(*fact) : "unknown");
  };
  const CpuFacts& cpu = machine.cpu;
  add("cpu", cpu.model);
  add("architecture", cpu.architecture);
  add("cores", cpu.affinity_cores);
  add("cpus", cpu.affinity_cpus);
  add("cpuset", cpu.cpuset_cpus);
  add("quota", cpu.quota_cpus);
  add("avx512", cpu.avx512);
  add("bf16", cpu.avx512_bf16);
  add("amx", cpu.amx_bf16);
  add("libc", machine.host.libc);
  add("torch", machine.library.torch_version);
  add("libtrain", machine.library.libtrain_version);
  return out;
}

std::string measured_file_name(const MachineFacts& machine) {
  return fill("measured-{}.facts", hexadecimal(hash(measured_for(machine))));
}

std::string format_measured_facts(const MeasuredFacts& facts, const MachineFacts& machine) {
  return fill("{}# milliseconds a step, by `fasttrain tune`; for {}\n",
              format_group("measured", facts), measured_for(machine));
}

MeasuredFacts parse_measured_facts(std::string_view text, const std::string& file) {
  return parse_group<MeasuredFacts>("measured", text, file);
}

}  // namespace libtrain
