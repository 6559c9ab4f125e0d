#include <cstdio>
#include <string>

#include "libtrain/core/error.hpp"
#include "libtrain/plan/explain.hpp"
#include "libtrain/plan/make_plan.hpp"

int main() {
  const libtrain::Plan plan = libtrain::make_plan({.threads = 2}, libtrain::MachineFacts{});
  std::printf("%s\n", libtrain::explain(plan).c_str());
  try {
    libtrain::make_plan({.threads = -1}, libtrain::MachineFacts{});
  } catch (const libtrain::InvalidOption& error) {
    std::printf("%s\n", error.what());
    return plan.threads.value == 2 ? 0 : 1;
  }
  return 1;
}
