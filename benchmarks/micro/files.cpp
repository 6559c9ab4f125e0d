#include <ATen/ops/randn.h>
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "libtrain/state/tensor_file.hpp"

namespace {

constexpr int64_t kTensors = 16;

/// A file of its own that is gone at the end.
class Scratch {
 public:
  Scratch()
      : path_(std::filesystem::temp_directory_path() /
              ("libtrain-micro-" + std::to_string(::getpid()) + ".safetensors")) {}
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

libtrain::TensorMap make_tensors(int64_t elements) {
  libtrain::TensorMap tensors;
  for (int64_t i = 0; i < kTensors; ++i) {
    tensors.emplace("tensor." + std::to_string(i), at::randn(elements));
  }
  return tensors;
}

void count(benchmark::State& state) {
  state.SetBytesProcessed(state.iterations() * kTensors * state.range(0) *
                          static_cast<int64_t>(sizeof(float)));
}

/// fsync included.
void safetensors_save(benchmark::State& state) {
  const Scratch scratch;
  const libtrain::TensorMap tensors = make_tensors(state.range(0));
  for (auto _ : state) {
    libtrain::save_file(tensors, scratch.path());
  }
  count(state);
}

void safetensors_load(benchmark::State& state) {
  const Scratch scratch;
  libtrain::save_file(make_tensors(state.range(0)), scratch.path());
  for (auto _ : state) {
    benchmark::DoNotOptimize(libtrain::load_file(scratch.path()));
  }
  count(state);
}

BENCHMARK(safetensors_save)->Arg(1024)->Arg(1 << 20)->UseRealTime();
BENCHMARK(safetensors_load)->Arg(1024)->Arg(1 << 20)->UseRealTime();

}  // namespace
