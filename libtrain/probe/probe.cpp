#include "libtrain/probe/probe.hpp"

namespace libtrain {

MachineFacts probe_machine() { return {}; }

}  // namespace libtrain
