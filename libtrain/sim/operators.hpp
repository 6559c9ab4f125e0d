#pragma once

namespace libtrain::sim {

/// Registers the device's operators, its own and the fall-back for all others. Once a process.
void register_operators();

}  // namespace libtrain::sim
