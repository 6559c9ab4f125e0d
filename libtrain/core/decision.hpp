#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "libtrain/core/api.hpp"

namespace libtrain {

/// Who decided, in falling order of authority.
enum class Source {
  kAsked,        ///< the calling program
  kEnvironment,  ///< a FASTTRAIN_* variable
  kMeasured,     ///< a measurement kept for this machine
  kFacts,        ///< what the probe found
  kDefault,      ///< nothing speaks for anything else
};

LT_API std::string_view to_text(Source source);
/// Whether the machine decided and nobody asked: what a measurement may correct.
inline bool is_unasked(Source source) {
  return source == Source::kFacts || source == Source::kDefault;
}

/// A value that was chosen, by whom, and why in one sentence a user can check.
template <class T>
struct Decision {
  T value{};
  Source source = Source::kDefault;
  std::string reason;

  friend bool operator==(const Decision&, const Decision&) = default;
};

}  // namespace libtrain
