#include <cstdio>
#include <string>

#include "libtrain/core/text.hpp"
#include "libtrain/plan/options.hpp"

int main() {
  const libtrain::PlanOptions options;
  const std::string text = libtrain::to_text(0.1);
  std::printf("%s\n", text.c_str());
  return text == "0.1" ? 0 : 1;
}
