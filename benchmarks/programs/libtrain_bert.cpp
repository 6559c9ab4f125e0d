// BERT by examples/bert and libtrain's Trainer. Settings: model, texts, order, precision ("fp32",
// "bf16" or null for the plan's choice), lr, weight_decay, clip.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "benchmarks/programs/texts.hpp"
#include "benchmarks/programs/worker.hpp"
#include "examples/bert/hf_directory.hpp"
#include "examples/bert/model/classifier.hpp"
#include "libtrain/libtrain.hpp"

namespace benchmarks {
namespace {

namespace lt = libtrain;

bert::Classifier load(const std::string& folder, bool dropout) {
  bert::HfDirectory source = bert::HfDirectory::read(folder);
  if (!dropout) {
    source.config.hidden_dropout_prob = 0.0;
    source.config.attention_probs_dropout_prob = 0.0;
  }
  bert::Classifier model(source.config);
  bert::load_weights(model, folder);
  return model;
}

class Training {
 public:
  Training(lt::Runtime& runtime, const Json& settings, bool dropout)
      : model_(runtime.prepare(load(settings.at("model"), dropout))),
        optimizer_(lt::parameters_of(*model_),
                   {.lr = settings.at("lr"), .weight_decay = settings.at("weight_decay")}),
        trainer_(runtime, optimizer_, {.clip_norm = settings.at("clip").get<double>()}) {}

  Values run(std::span<const lt::Batch> batches) {
    Values losses;
    for (const lt::Batch& batch : batches) {
      const lt::StepReport report =
          trainer_.step(batch, [&](const lt::Batch& part) { return model_->loss(part); });
      losses.push_back(trainer_.values(report).loss);
    }
    return losses;
  }

 private:
  bert::Classifier model_;
  lt::AdamW optimizer_;
  lt::Trainer trainer_;
};

lt::PlanOptions plan_options(const Json& settings) {
  lt::PlanOptions options{.seed = 0};
  if (!settings.at("precision").is_null()) {
    options.precision = lt::parse_precision(settings.at("precision").get<std::string>());
  }
  return options;
}

Json flags_of(const lt::Plan& plan, const Json& settings) {
  return {{"precision", lt::to_text(plan.precision.value)},
          {"order", settings.at("order")},
          {"attention", lt::to_text(plan.attention.value)},
          {"optimizer", lt::to_text(plan.optimizer.value)},
          {"allocator", lt::to_text(plan.allocator.value)},
          {"threads", plan.threads.value}};
}

Work make(const Json& settings) {
  const auto runtime = std::make_shared<lt::Runtime>(plan_options(settings));
  const auto groups = read_groups(settings.at("texts"), settings.at("order"));
  std::vector<lt::Batch> common;
  for (const std::vector<lt::Batch>& group : read_groups(settings.at("texts"), "random")) {
    common.insert(common.end(), group.begin(), group.end());
  }
  const auto training = std::make_shared<std::optional<Training>>();

  return {.flags = flags_of(runtime->plan(), settings),
          .verify =
              [=](int64_t steps) {
                Training fresh(*runtime, settings, false);
                return fresh.run(
                    std::span(common).first(std::min(common.size(), static_cast<size_t>(steps))));
              },
          .repeat =
              [=](int64_t number) {
                if (!*training) {
                  training->emplace(*runtime, settings, true);
                }
                return (*training)->run(groups[static_cast<size_t>(number) % groups.size()]);
              }};
}

}  // namespace
}  // namespace benchmarks

int main(int argc, char** argv) { return benchmarks::serve(argc, argv, benchmarks::make); }
