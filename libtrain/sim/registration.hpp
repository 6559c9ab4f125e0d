#pragma once

#include <torch/library.h>

namespace libtrain::sim {

/// A place to register kernels of a namespace for a key, for the rest of the process: a library
/// object takes its registrations back when it goes.
torch::Library& library(const char* name, c10::DispatchKey key);

}  // namespace libtrain::sim
