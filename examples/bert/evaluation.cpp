#include "examples/bert/evaluation.hpp"

#include <ATen/ops/cat.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/mse_loss.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <fmt/format.h>

#include "libtrain/amp/planned_autocast.hpp"
#include "libtrain/cli/progress.hpp"
#include "libtrain/core/file_system.hpp"
#include "libtrain/data/device_batches.hpp"

namespace bert {
namespace {

constexpr int64_t kEvaluationBatch = 128;

/// Pearson's correlation of two vectors; 0 when one of them is constant.
double pearson(const at::Tensor& a, const at::Tensor& b) {
  const at::Tensor x = a.to(at::kDouble) - a.to(at::kDouble).mean();
  const at::Tensor y = b.to(at::kDouble) - b.to(at::kDouble).mean();
  const double norm = (x.norm() * y.norm()).item<double>();
  return norm > 0.0 ? (x * y).sum().item<double>() / norm : 0.0;
}

}  // namespace

Evaluation evaluate(const libtrain::Runtime& runtime, Classifier& model, const TextDataset& data,
                    Task task, const std::string& title) {
  const libtrain::EvalScope eval = runtime.eval();
  const libtrain::DataLoader loader(data, {.batch_size = kEvaluationBatch});
  libtrain::Progress progress(title, data.size(), stderr);
  std::vector<at::Tensor> logits;
  std::vector<at::Tensor> targets;
  int64_t done = 0;
  for (const libtrain::Batch& batch : libtrain::DeviceBatches(loader.epoch(0), runtime)) {
    const libtrain::Autocast cast(libtrain::planned_autocast(runtime));
    logits.push_back(model->logits(batch).to(at::kFloat));
    targets.push_back(batch.at("labels"));
    done += batch.samples();
    progress.show(done, "");
  }
  const at::Tensor target = at::cat(targets).cpu();
  Evaluation result{.logits = at::cat(logits).cpu(), .metric = {}};
  if (task == Task::kRegression) {
    const at::Tensor predicted = result.logits.squeeze(1);
    result.loss = at::mse_loss(predicted, target).item<double>();
    result.score = pearson(predicted, target);
    result.metric = "eval/pearson";
  } else {
    result.loss = at::cross_entropy_loss(result.logits, target).item<double>();
    result.score = result.logits.argmax(1).eq(target).to(at::kDouble).mean().item<double>();
    result.metric = "eval/accuracy";
  }
  return result;
}

void write_predictions(const std::string& path, const std::vector<libtrain::format::TsvRow>& rows,
                       const Evaluation& evaluation, const std::vector<std::string>& labels,
                       Task task) {
  const at::Tensor best = evaluation.logits.argmax(1);
  libtrain::write_file_atomically(path, [&](const libtrain::ByteSink& sink) {
    for (size_t i = 0; i < rows.size(); ++i) {
      const at::Tensor row = evaluation.logits[static_cast<int64_t>(i)];
      libtrain::format::Json line = {{"text", rows[i].text}};
      if (rows[i].second) {
        line["second"] = *rows[i].second;
      }
      line["label"] = rows[i].label;
      if (task == Task::kRegression) {
        line["predicted"] = row.item<float>();
      } else {
        line["predicted"] =
            labels[static_cast<size_t>(best[static_cast<int64_t>(i)].item<int64_t>())];
      }
      line["logits"] = std::vector<float>(row.const_data_ptr<float>(),
                                          row.const_data_ptr<float>() + row.numel());
      const std::string text = line.dump() + '\n';
      sink(std::as_bytes(std::span(text)));
    }
  });
}

}  // namespace bert
