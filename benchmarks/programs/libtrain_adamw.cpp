// Clipping and AdamW alone, in the two passes that Trainer::step takes: the norm, then an update
// that multiplies the gradients as it reads them.

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks/programs/parameters.hpp"
#include "benchmarks/programs/updates.hpp"
#include "libtrain/libtrain.hpp"

namespace benchmarks {
namespace {

namespace lt = libtrain;

constexpr double kClipEpsilon = 1e-6;  // as torch.nn.utils.clip_grad_norm_
constexpr double kNoLimit = std::numeric_limits<double>::infinity();

lt::Parameters named(const std::vector<at::Tensor>& tensors) {
  lt::ParameterGroup group;
  for (const at::Tensor& tensor : tensors) {
    group.parameters.push_back({std::to_string(group.parameters.size()), tensor});
  }
  return {.groups = {group}, .aliases = {}};
}

class Updates {
 public:
  explicit Updates(const std::string& shapes)
      : parameters_(make_parameters(shapes)),
        optimizer_(named(parameters_), {.lr = kLearningRate, .weight_decay = 0.01}) {}

  double step() {
    const double norm = lt::clip_grad_norm_(parameters_, kNoLimit).item<double>();
    optimizer_.update(
        lt::HostUpdate{.grad_multiplier = std::min(1.0, kClipNorm / (norm + kClipEpsilon))});
    return norm;
  }

  double size() const { return size_of(parameters_); }

 private:
  std::vector<at::Tensor> parameters_;
  lt::AdamW optimizer_;
};

Work make(const Json& settings) {
  static const lt::Runtime runtime;
  return update_work<Updates>(settings, {{"optimizer", lt::to_text(runtime.plan().optimizer.value)},
                                         {"threads", runtime.plan().threads.value}});
}

}  // namespace
}  // namespace benchmarks

int main(int argc, char** argv) { return benchmarks::serve(argc, argv, benchmarks::make); }
