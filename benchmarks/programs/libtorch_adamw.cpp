// Clipping and torch::optim::AdamW alone, as LibTorch's documentation writes them.

#include <ATen/Parallel.h>
#include <torch/nn/utils/clip_grad.h>
#include <torch/optim/adamw.h>

#include <vector>

#include "benchmarks/programs/parameters.hpp"
#include "benchmarks/programs/updates.hpp"

namespace benchmarks {
namespace {

class Updates {
 public:
  explicit Updates(const std::string& shapes)
      : parameters_(make_parameters(shapes)),
        optimizer_(parameters_, torch::optim::AdamWOptions(kLearningRate).weight_decay(0.01)) {}

  double step() {
    const double norm = torch::nn::utils::clip_grad_norm_(parameters_, kClipNorm);
    optimizer_.step();
    return norm;
  }

  double size() const { return size_of(parameters_); }

 private:
  std::vector<at::Tensor> parameters_;
  torch::optim::AdamW optimizer_;
};

Work make(const Json& settings) {
  return update_work<Updates>(settings, {{"threads", at::get_num_threads()}});
}

}  // namespace
}  // namespace benchmarks

int main(int argc, char** argv) { return benchmarks::serve(argc, argv, benchmarks::make); }
