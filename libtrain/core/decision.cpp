#include "libtrain/core/decision.hpp"

namespace libtrain {

std::string_view to_text(Source source) {
  switch (source) {
    case Source::kAsked:
      return "asked";
    case Source::kEnvironment:
      return "environment";
    case Source::kMeasured:
      return "measured";
    case Source::kFacts:
      return "facts";
    case Source::kDefault:
      return "default";
  }
  return "unknown";
}

}  // namespace libtrain
