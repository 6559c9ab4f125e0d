#include "benchmarks/programs/worker.hpp"

#include <torch/version.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <iostream>
#include <string>

#include "libtrain/cli/exit_code.hpp"
#include "libtrain/core/file_system.hpp"
#include "libtrain/core/require.hpp"

namespace benchmarks {
namespace {

/// Largest resident memory of this program so far, in MB (10^6 bytes).
double peak_mb() {
  constexpr std::string_view kKey = "VmHWM:";
  const std::string status = libtrain::read_file("/proc/self/status");
  return std::stod(status.substr(status.find(kKey) + kKey.size())) * 1024 / 1e6;
}

void answer(const Json& line) {
  std::printf("%s\n", line.dump().c_str());
  std::fflush(stdout);
}

void serve_requests(const Work& work) {
  answer({{"ready", true},
          {"versions", {{"libtorch", TORCH_VERSION}, {"compiler", __VERSION__}}},
          {"flags", work.flags}});
  for (std::string line; std::getline(std::cin, line);) {
    const Json request = libtrain::format::parse_json(line, "stdin");
    if (request.contains("verify")) {
      answer({{"values", work.verify(request["verify"].get<int64_t>())}});
      continue;
    }
    if (work.before_repeat) {
      work.before_repeat();
    }
    const auto start = std::chrono::steady_clock::now();
    const Values values = work.repeat(request.at("repeat").get<int64_t>());
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    answer({{"seconds", passed.count()}, {"values", values}, {"peak_mb", peak_mb()}});
  }
}

}  // namespace

int serve(int argc, char** argv, const std::function<Work(const Json& settings)>& make) {
  try {
    libtrain::require(argc == 2, "[benchmarks.serve] {} arguments, expected the settings in JSON",
                      argc - 1);
    serve_requests(make(libtrain::format::parse_json(argv[1], "settings")));
    return libtrain::kExitDone;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return libtrain::exit_code_of(error);
  }
}

}  // namespace benchmarks
