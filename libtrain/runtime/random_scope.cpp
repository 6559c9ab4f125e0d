#include "libtrain/runtime/random_scope.hpp"

#include <ATen/CPUGeneratorImpl.h>

#include <mutex>

namespace libtrain {
namespace {

thread_local RandomPosition* t_position = nullptr;

uint64_t draw_seed() {
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  const std::lock_guard lock(generator.mutex());
  return at::check_generator<at::CPUGeneratorImpl>(generator)->random64();
}

}  // namespace

RandomScope::RandomScope(const RandomPosition& position)
    : previous_(t_position), position_(position) {
  t_position = &position_;
}

RandomScope::~RandomScope() { t_position = previous_; }

kernels::RandomStream next_random_stream() {
  if (t_position == nullptr) {
    return {.seed = draw_seed()};
  }
  return {.seed = t_position->seed,
          .step = t_position->step,
          .site = t_position->next_site++,
          .sample = t_position->first_sample};
}

}  // namespace libtrain
