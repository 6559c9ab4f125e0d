// Own kernels beside ATen's, on one thread: what a core does, without the cost of starting threads.

#include <ATen/Parallel.h>
#include <benchmark/benchmark.h>

#include <cstdlib>

#include "libtrain/runtime/runtime.hpp"

int main(int argc, char** argv) {
  // What stays of it is the allocator's setting, for both sides: no page faults in what is timed.
  { const libtrain::Runtime runtime; }
  at::set_num_threads(1);
  const char* isa = std::getenv("FASTTRAIN_ISA");
  benchmark::AddCustomContext("FASTTRAIN_ISA", isa != nullptr ? isa : "the fastest");
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
    return 2;
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
