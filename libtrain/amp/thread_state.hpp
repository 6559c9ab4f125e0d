#pragma once

#include <ATen/ThreadLocalState.h>

#include <utility>

#include "libtrain/core/api.hpp"

namespace libtrain {

/// The grad mode, autocast setting, dispatch and profiling state of the thread that makes it. A new
/// thread starts with gradients on and autocast off; run() makes another thread compute as the
/// first:
///
///   const ThreadState state;
///   std::thread worker([&] { state.run([&] { output = model->forward(input); }); });
///
/// at::parallel_for does not carry this state either, so what runs in it must not call operators
/// whose result depends on it, or must go through run().
class LT_API ThreadState {
 public:
  ThreadState();

  /// Calls `fn` under this state and returns what it returns; the thread's own state is restored
  /// then.
  template <class Fn>
  decltype(auto) run(Fn&& fn) const {
    const Scope scope(*this);
    return std::forward<Fn>(fn)();
  }

 private:
  class LT_API Scope {
   public:
    explicit Scope(const ThreadState& state);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    Scope(Scope&&) = delete;
    Scope& operator=(Scope&&) = delete;

   private:
    at::ThreadLocalStateGuard guard_;
    bool previous_cache_enabled_;
  };

  at::ThreadLocalState state_;
  bool cache_enabled_;
};

}  // namespace libtrain
