#include "benchmarks/programs/parameters.hpp"

#include <ATen/Context.h>
#include <ATen/ops/abs.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/sum.h>

#include "libtrain/core/file_system.hpp"
#include "libtrain/format/json.hpp"

namespace benchmarks {

std::vector<at::Tensor> make_parameters(const std::string& shapes_file) {
  at::manual_seed(0);
  std::vector<at::Tensor> parameters;
  for (const auto& shape :
       libtrain::format::parse_json(libtrain::read_file(shapes_file), shapes_file)) {
    const auto sizes = shape.get<std::vector<int64_t>>();
    at::Tensor parameter = at::randn(sizes).mul_(0.02).requires_grad_();
    parameter.mutable_grad() = at::randn(sizes).mul_(1e-3);
    parameters.push_back(parameter);
  }
  return parameters;
}

double size_of(const std::vector<at::Tensor>& parameters) {
  double sum = 0.0;
  for (const at::Tensor& parameter : parameters) {
    sum += parameter.detach().abs().sum(at::kDouble).item<double>();
  }
  return sum;
}

}  // namespace benchmarks
