#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "libtrain/core/api.hpp"
#include "libtrain/facts/cpu.hpp"
#include "libtrain/facts/gpu.hpp"
#include "libtrain/facts/host.hpp"
#include "libtrain/facts/launch.hpp"
#include "libtrain/facts/library.hpp"
#include "libtrain/facts/measured.hpp"
#include "libtrain/facts/model.hpp"
#include "libtrain/facts/network.hpp"

namespace libtrain {

/// All that is known of a machine. What moves (free memory, clocks) stands last in each struct: no
/// plan depends on it.
struct MachineFacts {
  HostFacts host;
  CpuFacts cpu;
  GpuDriverFacts gpu_driver;
  std::vector<GpuFacts> gpus;
  LibraryFacts library;
  LaunchFacts launch;
  NetworkFacts network;
  MeasuredFacts measured;

  friend bool operator==(const MachineFacts&, const MachineFacts&) = default;
};

/// One `key = value` a line, unknown fields left out; parse_machine_facts() reads it back
/// unchanged.
LT_API std::string format_machine_facts(const MachineFacts& facts);
/// Throws BadFile (kContent; `file` names the source, `offset` the byte where the bad line starts)
/// for an unknown key, a value of the wrong type, a duplicate, or invalid UTF-8.
LT_API MachineFacts parse_machine_facts(std::string_view text, const std::string& file);

LT_API std::string format_model_facts(const ModelFacts& facts);
LT_API ModelFacts parse_model_facts(std::string_view text, const std::string& file);

}  // namespace libtrain
