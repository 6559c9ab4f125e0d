#include "benchmarks/programs/mlp.hpp"

#include <ATen/ops/relu.h>

#include "libtrain/state/module_state.hpp"
#include "libtrain/state/tensor_file.hpp"

namespace benchmarks {

MlpImpl::MlpImpl()
    : first_(register_module("0", torch::nn::Linear(64, 128))),
      second_(register_module("2", torch::nn::Linear(128, 128))),
      third_(register_module("4", torch::nn::Linear(128, 10))) {}

at::Tensor MlpImpl::forward(const at::Tensor& x) {
  return third_(at::relu(second_(at::relu(first_(x)))));
}

MlpStart read_mlp(const std::string& file) {
  libtrain::TensorMap tensors = libtrain::load_file(file);
  MlpStart start{.model = Mlp(), .x = tensors.at("x"), .y = tensors.at("y")};
  tensors.erase("x");
  tensors.erase("y");
  libtrain::load_state_dict(*start.model, tensors, file);
  return start;
}

}  // namespace benchmarks
