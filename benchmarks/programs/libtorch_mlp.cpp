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

  at::Tensor step() {
    optimizer_.zero_grad();
    const at::Tensor loss = at::cross_entropy_loss(start_.model(start_.x), start_.y);
    loss.backward();
    optimizer_.step();
    return loss;
  }

 private:
  MlpStart start_;
  torch::optim::AdamW optimizer_;
};

Work make(const Json& settings) {
  at::set_num_threads(1);
  const std::string file = settings.at("file");
  const auto steps_a_repeat = settings.at("steps").get<int64_t>();
  const auto timed = std::make_shared<Training>(file);

  return {.flags = {{"threads", at::get_num_threads()}},
          .verify =
              [=](int64_t steps) {
                Training fresh(file);
                Values losses;
                for (int64_t step = 0; step < steps; ++step) {
                  losses.push_back(fresh.step().item<double>());
                }
                return losses;
              },
          .repeat =
              [=](int64_t) {
                for (int64_t step = 0; step < steps_a_repeat; ++step) {
                  timed->step();
                }
                return Values{};
              }};
}

}  // namespace
}  // namespace benchmarks

int main(int argc, char** argv) { return benchmarks::serve(argc, argv, benchmarks::make); }
