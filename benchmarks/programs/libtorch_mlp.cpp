// A step of a tiny network: a plain LibTorch loop with torch::optim, on one thread. Settings: file,
// steps.

#include <ATen/Parallel.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <torch/optim/adamw.h>

#include <memory>
#include <string>

#include "benchmarks/programs/mlp.hpp"
#include "benchmarks/programs/worker.hpp"

namespace benchmarks {
namespace {

class Training {
 public:
  explicit Training(const std::string& file)
      : start_(read_mlp(file)),
        optimizer_(start_.model->parameters(), torch::optim::AdamWOptions(1e-3)) {}

  void step() {
    optimizer_.zero_grad();
    loss_ = at::cross_entropy_loss(start_.model(start_.x), start_.y);
    loss_.backward();
    optimizer_.step();
  }

  double loss() const { return loss_.item<double>(); }

 private:
  MlpStart start_;
  torch::optim::AdamW optimizer_;
  at::Tensor loss_;
};

Work make(const Json& settings) {
  at::set_num_threads(1);
  const std::string file = settings.at("file");
  return mlp_work({{"threads", at::get_num_threads()}}, settings.at("steps"),
                  [file] { return std::make_shared<Training>(file); });
}

}  // namespace
}  // namespace benchmarks

int main(int argc, char** argv) { return benchmarks::serve(argc, argv, benchmarks::make); }
