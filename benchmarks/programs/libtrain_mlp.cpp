// A step of a tiny network by libtrain's Trainer, on one thread. Settings: file, steps.

#include <ATen/ops/cross_entropy_loss.h>

#include <memory>
#include <string>

#include "benchmarks/programs/mlp.hpp"
#include "benchmarks/programs/worker.hpp"
#include "libtrain/libtrain.hpp"

namespace benchmarks {
namespace {

namespace lt = libtrain;

class Training {
 public:
  Training(lt::Runtime& runtime, MlpStart start)
      : model_(runtime.prepare(std::move(start.model))),
        batch_(lt::Batch::stacked({{"x", start.x}, {"y", start.y}})),
        optimizer_(lt::parameters_of(*model_), {.lr = 1e-3}),
        trainer_(runtime, optimizer_) {}

  void step() {
    report_ = trainer_.step(batch_, [this](const lt::Batch& part) {
      return at::cross_entropy_loss(model_(part.at("x")), part.at("y"));
    });
  }

  double loss() { return trainer_.values(report_).loss; }

 private:
  Mlp model_;
  lt::Batch batch_;
  lt::AdamW optimizer_;
  lt::Trainer trainer_;
  lt::StepReport report_;
};

Work make(const Json& settings) {
  const auto runtime = std::make_shared<lt::Runtime>(
      lt::PlanOptions{.precision = lt::PrecisionMode::kFp32, .threads = 1, .seed = 0});
  const std::string file = settings.at("file");
  return mlp_work({{"optimizer", lt::to_text(runtime->plan().optimizer.value)},
                   {"threads", runtime->plan().threads.value}},
                  settings.at("steps"),
                  [runtime, file] { return std::make_shared<Training>(*runtime, read_mlp(file)); });
}

}  // namespace
}  // namespace benchmarks

int main(int argc, char** argv) { return benchmarks::serve(argc, argv, benchmarks::make); }
