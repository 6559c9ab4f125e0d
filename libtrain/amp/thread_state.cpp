#include "libtrain/amp/thread_state.hpp"

#include <ATen/autocast_mode.h>

namespace libtrain {

ThreadState::ThreadState() : cache_enabled_(at::autocast::is_autocast_cache_enabled()) {}

// LibTorch's own state leaves out autocast's cache flag and nesting, which decide about the cache
// of cast weights: a thread that ran forward passes clears what it cached.
ThreadState::Scope::Scope(const ThreadState& state)
    : guard_(state.state_), previous_cache_enabled_(at::autocast::is_autocast_cache_enabled()) {
  at::autocast::set_autocast_cache_enabled(state.cache_enabled_);
  at::autocast::increment_nesting();
}

ThreadState::Scope::~Scope() {
  if (at::autocast::decrement_nesting() == 0) {
    at::autocast::clear_cache();
  }
  at::autocast::set_autocast_cache_enabled(previous_cache_enabled_);
}

}  // namespace libtrain
