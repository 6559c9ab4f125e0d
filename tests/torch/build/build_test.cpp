// What must hold of the build itself.

#include <ATen/Parallel.h>
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>

int fmt_version_without_torch();

namespace libtrain {
namespace {

TEST(Build, HasOneFmtWithAndWithoutTorchsHeaders) {
  EXPECT_EQ(FMT_VERSION, fmt_version_without_torch());
}

TEST(Build, ParallelLoopsUseEveryThread) {
  at::set_num_threads(2);
  std::array<std::atomic<int>, 2> seen{};
  at::parallel_for(0, 2, 1, [&](int64_t, int64_t) {
    seen.at(static_cast<size_t>(at::get_thread_num())).fetch_add(1);
  });
  EXPECT_EQ(seen[0], 1);
  EXPECT_EQ(seen[1], 1);
}

}  // namespace
}  // namespace libtrain
