#pragma once

#include <map>
#include <optional>
#include <string>

#include "libtrain/core/api.hpp"
#include "libtrain/facts/machine.hpp"
#include "libtrain/probe/sources.hpp"

namespace libtrain {

/// The folder of this user's measurements: fasttrain in XDG_CACHE_HOME, else in .cache of HOME (XDG
/// Base Directory Specification 0.8: relative paths are ignored). Nothing where neither says one.
LT_API std::optional<std::string> measured_folder(
    const std::map<std::string, std::string>& environment);

/// Of this process.
LT_API std::optional<std::string> measured_folder();

/// What `fasttrain tune` kept for a machine like this one; empty with FASTTRAIN_MEASURED=off. A
/// file that cannot be read as such is named in `problem`.
LT_API MeasuredFacts probe_measured(const Sources& sources, const MachineFacts& machine);

}  // namespace libtrain
