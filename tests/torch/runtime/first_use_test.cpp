#include <ATen/ops/mm.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tanh.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <set>
#include <string_view>

#include "libtrain/runtime/runtime.hpp"

namespace libtrain {
namespace {

/// The bits, in one number, of a tanh over two threads in a process that has called none.
uint64_t first_tanh_of_a_process() {
  int ends[2];
  if (pipe(ends) != 0) {
    return 0;
  }
  const pid_t child = fork();
  if (child == 0) {
    const Runtime runtime({.threads = 2, .seed = 0}, MachineFacts{});
    at::manual_seed(0);
    at::mm(at::randn({576, 384}), at::randn({384, 1536}));  // its threads still wait for more work
    const at::Tensor out = at::tanh(at::mm(at::randn({64, 384}), at::randn({384, 384})));
    const std::string_view bytes(static_cast<const char*>(out.const_data_ptr()), out.nbytes());
    const uint64_t bits = std::hash<std::string_view>()(bytes);
    _exit(write(ends[1], &bits, sizeof(bits)) == sizeof(bits) ? 0 : 1);
  }
  close(ends[1]);
  uint64_t bits = 0;
  EXPECT_EQ(read(ends[0], &bits, sizeof(bits)), static_cast<ssize_t>(sizeof(bits)));
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return bits;
}

/// Alone in its program: a process with OpenMP threads cannot fork and use them. Without the
/// runtime's first call about one process in 75 differs (two cores).
TEST(FirstUse, OfAThreadedFunctionGivesTheSameBitsInEveryProcess) {
  std::set<uint64_t> seen;
  for (int process = 0; process < 400; ++process) {
    seen.insert(first_tanh_of_a_process());
  }
  EXPECT_EQ(seen.size(), 1U);
}

}  // namespace
}  // namespace libtrain
