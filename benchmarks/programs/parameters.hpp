#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

namespace benchmarks {

/// Parameters with gradients of the shapes that the JSON file lists, as
/// benchmarks/peers/pytorch_adamw.py makes them: the same numbers.
std::vector<at::Tensor> make_parameters(const std::string& shapes_file);

/// Sum of magnitudes over all elements.
double size_of(const std::vector<at::Tensor>& parameters);

}  // namespace benchmarks
