#pragma once

#include <exception>
#include <vector>

#include "libtrain/core/api.hpp"
#include "libtrain/doctor/doctor.hpp"

namespace libtrain {

/// Exit codes of our programs; 64 and above as in sysexits.h.
inline constexpr int kExitDone = 0;
inline constexpr int kExitFailure = 1;       ///< none of the others
inline constexpr int kExitUsage = 2;         ///< the command line cannot be read
inline constexpr int kExitBadData = 65;      ///< a file's contents are not what its format demands
inline constexpr int kExitInputOutput = 74;  ///< a file cannot be read or written
inline constexpr int kExitPreempted = 75;    ///< stopped from outside, state saved: start again
inline constexpr int kExitConfiguration =
    78;  ///< an option is out of range or cannot be served here
inline constexpr int kExitDoNotRequeue = 93;  ///< diverged: starting again would do so again

/// The exit code that tells a launcher what `error` means for it.
LT_API int exit_code_of(const std::exception& error) noexcept;

/// 1 when a check failed, with `strict` also when one warned; else 0.
LT_API int exit_code_of(const std::vector<Finding>& findings, bool strict);

}  // namespace libtrain
