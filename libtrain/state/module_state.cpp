#include "libtrain/state/module_state.hpp"

#include <ATen/core/grad_mode.h>
#include <torch/nn/module.h>

#include <vector>

#include "libtrain/core/error.hpp"
#include "libtrain/core/text.hpp"

namespace libtrain {
namespace {

constexpr size_t kDifferencesShown = 20;

std::string shape_text(const at::Tensor& tensor) {
  std::vector<std::string> sizes;
  for (const int64_t size : tensor.sizes()) {
    sizes.push_back(to_text(size));
  }
  return fill("[{}]", join(sizes, ", "));
}

std::vector<std::string> differences(const TensorMap& own, const TensorMap& given) {
  std::vector<std::string> out;
  for (const auto& [name, tensor] : own) {
    const auto found = given.find(name);
    if (found == given.end()) {
      out.push_back(fill("missing {}", quote(name)));
    } else if (found->second.sizes() != tensor.sizes()) {
      out.push_back(fill("{} has shape {}, expected {}", quote(name), shape_text(found->second),
                         shape_text(tensor)));
    } else if (found->second.scalar_type() != tensor.scalar_type() &&
               !(found->second.is_floating_point() && tensor.is_floating_point())) {
      out.push_back(fill("{} has dtype {}, expected {}", quote(name),
                         c10::toString(found->second.scalar_type()),
                         c10::toString(tensor.scalar_type())));
    }
  }
  for (const auto& [name, tensor] : given) {
    if (!own.contains(name)) {
      out.push_back(fill("unexpected {}", quote(name)));
    }
  }
  return out;
}

}  // namespace

TensorMap state_dict(const torch::nn::Module& module) {
  TensorMap out;
  for (const auto& item : module.named_parameters()) {
    out.emplace(item.key(), item.value());
  }
  for (const auto& item : module.named_buffers()) {
    out.emplace(item.key(), item.value());
  }
  return out;
}

void load_state_dict(torch::nn::Module& module, const TensorMap& tensors,
                     const std::string& source) {
  const TensorMap own = state_dict(module);
  std::vector<std::string> wrong = differences(own, tensors);
  if (!wrong.empty()) {
    const size_t count = wrong.size();
    if (count > kDifferencesShown) {
      wrong.resize(kDifferencesShown);
      wrong.push_back(fill("and {} more", count - kDifferencesShown));
    }
    throw BadFile(
        fill("[state.load] {} does not fit the model: {}; check that model and file are of "
             "one kind",
             quote(source, 400), join(wrong, "; ")),
        source);
  }
  const at::NoGradGuard no_grad;
  for (auto [name, tensor] : own) {
    tensor.copy_(tensors.at(name));
  }
}

}  // namespace libtrain
