#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "libtrain/core/api.hpp"
#include "libtrain/plan/options.hpp"

namespace libtrain {

/// More threads than any supported kernel can schedule CPUs for (Linux x86, NR_CPUS <= 8192).
inline constexpr int kMaxThreads = 8192;

inline constexpr int kLastNumaNode = 65535;

/// One setting a user can make. The table drives the environment, `--set`, the help and the docs.
struct OptionInfo {
  std::string_view key;       ///< field of PlanOptions, row of the plan, key of `--set`
  std::string_view variable;  ///< "FASTTRAIN_PRECISION"; empty where only the program decides
  std::string_view allowed;   ///< "fp32, tf32, bf16 or fp16"
  std::string_view meaning;
  bool (*read)(std::string_view text, PlanOptions& into);  ///< false: the text is not allowed
};

LT_API std::span<const OptionInfo> option_table();

/// "FASTTRAIN_PRECISION" of "precision", one of the table's keys.
LT_API std::string_view variable_of(std::string_view key);

/// Sets the option `key` to what `text` says. Throws InvalidOption for a key that does not exist
/// (the nearest one is suggested) and for a text that is not allowed.
LT_API void set_option(PlanOptions& options, std::string_view key, std::string_view text);

}  // namespace libtrain
