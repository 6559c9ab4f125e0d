// Fine-tunes a BERT encoder on labelled text, as the machine at hand does it best.

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>

#include "examples/bert/evaluation.hpp"
#include "examples/bert/fine_tuning.hpp"
#include "examples/bert/hf_directory.hpp"
#include "examples/bert/options.hpp"
#include "examples/bert/simulation.hpp"
#include "examples/bert/text_dataset.hpp"
#include "examples/support/metrics_file.hpp"
#include "libtrain/cli/exit_code.hpp"
#include "libtrain/cli/output.hpp"
#include "libtrain/cli/plan_json.hpp"
#include "libtrain/cli/progress.hpp"
#include "libtrain/core/file_system.hpp"
#include "libtrain/core/require.hpp"
#include "libtrain/core/warning.hpp"
#include "libtrain/libtrain.hpp"

namespace bert {
namespace {

namespace lt = libtrain;
using lt::format::Json;
using lt::format::TsvRow;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Everything the run reads, checked before anything is trained.
struct Inputs {
  HfDirectory source;
  std::vector<TsvRow> train_rows;
  std::vector<TsvRow> eval_rows;
  std::vector<std::string> labels;
};

Inputs read_inputs(const TrainBertOptions& options) {
  Inputs in{
      .source = HfDirectory::read(options.model), .train_rows = {}, .eval_rows = {}, .labels = {}};
  if (!options.eval_only) {
    in.train_rows = lt::format::read_tsv(options.train);
  }
  if (!options.eval.empty()) {
    in.eval_rows = lt::format::read_tsv(options.eval);
  }
  if (options.task == Task::kClassification) {
    in.labels = options.eval_only ? in.source.labels : labels_of(in.train_rows);
    const std::string& file = options.eval_only ? options.model : options.train;
    if (in.labels.size() < 2) {
      throw lt::BadFile(lt::fill("[bert.labels] {} labels in {}, expected at least 2; give a file "
                                 "with more classes, or --task regression",
                                 in.labels.size(), lt::quote(file, 400)),
                        file);
    }
  }
  in.source.config.num_labels =
      options.task == Task::kRegression ? 1 : static_cast<int64_t>(in.labels.size());
  lt::require(options.max_length <= in.source.config.max_position_embeddings,
              "[bert.max_length] --max-length {}, expected at most the model's {} positions",
              options.max_length, in.source.config.max_position_embeddings);
  return in;
}

Classifier load_model(const TrainBertOptions& options, const Inputs& inputs) {
  Classifier model(inputs.source.config);
  const std::vector<std::string> fresh = load_weights(model, options.model);
  if (!fresh.empty() && options.eval_only) {
    throw lt::BadFile(lt::fill("[bert.load] {} has no weights for {}; train it first",
                               lt::quote(options.model, 400), lt::join(fresh, ", ")),
                      options.model);
  }
  if (!fresh.empty()) {
    fmt::print(stderr, "Newly initialised: {}\n", lt::join(fresh, ", "));
  }
  return model;
}

class Run {
 public:
  Run(const TrainBertOptions& options, lt::Runtime& runtime, Inputs inputs, Classifier model)
      : options_(options),
        runtime_(runtime),
        inputs_(std::move(inputs)),
        model_(std::move(model)) {}

  Json train() {
    freeze(model_, options_.freeze);
    const lt::format::WordPiece tokenizer = lt::format::WordPiece::from_directory(options_.model);
    const std::unique_ptr<TextDataset> train_data =
        dataset(inputs_.train_rows, options_.train, tokenizer);
    std::unique_ptr<TextDataset> eval_data;
    if (!inputs_.eval_rows.empty()) {
      eval_data = dataset(inputs_.eval_rows, options_.eval, tokenizer);
    }
    examples::MetricsFile metrics(options_.out + "/metrics.jsonl");

    const lt::DataLoader loader(
        *train_data, {.batch_size = options_.batch, .shuffle = true, .seed = options_.seed});
    const int64_t steps = total_steps(options_, loader.size());
    lt::AdamW optimizer(fine_tuning_groups(model_, options_), {.lr = options_.lr});
    lt::Trainer trainer(
        runtime_, optimizer,
        {.clip_norm = options_.clip > 0.0 ? std::optional(options_.clip) : std::nullopt,
         .schedule = schedule_of(options_, steps)});

    Json result = {{"steps", steps}};
    const auto start = Clock::now();
    double evaluating = 0.0;
    std::optional<double> best;
    for (int64_t epoch = 0; trainer.steps() < steps; ++epoch) {
      const int64_t waits_before = host_waits();
      train_epoch(trainer, lt::DeviceBatches(loader.epoch(epoch), runtime_), steps, metrics);
      waits_in_steps_ += host_waits() - waits_before;
      steps_ = trainer.steps();
      if (eval_data) {
        const auto eval_start = Clock::now();
        const Evaluation evaluation =
            evaluate(runtime_, model_, *eval_data, options_.task, "evaluate");
        evaluating += seconds_since(eval_start);
        metrics.write({{"step", trainer.steps()},
                       {"epoch", epoch + 1},
                       {"eval/loss", evaluation.loss},
                       {evaluation.metric, evaluation.score}});
        if (best && evaluation.score <= *best) {
          continue;  // what is saved is the best epoch
        }
        best = evaluation.score;
        result["eval/loss"] = evaluation.loss;
        result[evaluation.metric] = evaluation.score;
        result["eval/samples"] = eval_data->size();
      }
      save_directory(options_.out, inputs_.source, model_, inputs_.labels);
    }
    const double training = seconds_since(start) - evaluating;
    result["train/samples"] = samples_;
    result["train/seconds"] = training;
    result["perf/samples_per_s"] = static_cast<double>(samples_) / training;
    result["perf/tokens_per_s"] = static_cast<double>(tokens_) / training;
    result["out"] = options_.out;
    return result;
  }

  /// Of training, and how often the host waited for the device in them.
  int64_t steps() const { return steps_; }
  int64_t waits_in_steps() const { return waits_in_steps_; }

  Json evaluate_only() {
    const lt::format::WordPiece tokenizer = lt::format::WordPiece::from_directory(options_.model);
    const std::unique_ptr<TextDataset> data = dataset(inputs_.eval_rows, options_.eval, tokenizer);
    const Evaluation evaluation = evaluate(runtime_, model_, *data, options_.task, "evaluate");
    const std::string path = options_.out + "/predictions.jsonl";
    write_predictions(path, inputs_.eval_rows, evaluation, inputs_.labels, options_.task);
    return {{"eval/samples", data->size()},
            {"eval/loss", evaluation.loss},
            {evaluation.metric, evaluation.score},
            {"predictions", path}};
  }

 private:
  std::unique_ptr<TextDataset> dataset(const std::vector<TsvRow>& rows, const std::string& file,
                                       const lt::format::WordPiece& tokenizer) const {
    return std::make_unique<TextDataset>(rows, file, tokenizer, inputs_.labels, options_.task,
                                         options_.max_length);
  }

  void train_epoch(lt::Trainer& trainer, const lt::DeviceBatches& epoch, int64_t steps,
                   examples::MetricsFile& metrics) {
    lt::Progress progress("train", steps, stderr);
    auto last = Clock::now();
    for (const lt::Batch& batch : epoch) {
      if (trainer.steps() == steps) {
        return;
      }
      const lt::StepReport report =
          trainer.step(batch, [&](const lt::Batch& part) { return model_->loss(part); });
      const double seconds = seconds_since(last);
      last = Clock::now();
      samples_ += batch.samples();
      tokens_ += batch.layout()->rows();
      if (report.latest) {
        log(*report.latest, batch, seconds, metrics, progress);
      }
    }
  }

  int64_t host_waits() const {
    return runtime_.simulation() != nullptr ? runtime_.simulation()->host_waits() : 0;
  }

  void log(const lt::StepValues& values, const lt::Batch& batch, double seconds,
           examples::MetricsFile& metrics, lt::Progress& progress) {
    const double samples_per_s = static_cast<double>(batch.samples()) / seconds;
    const double tokens_per_s = static_cast<double>(batch.layout()->rows()) / seconds;
    metrics.write({{"step", values.step + 1},
                   {"train/loss", values.loss},
                   {"train/lr", values.lr_factor * options_.lr},
                   {"train/grad_norm", values.grad_norm},
                   {"train/loss_scale", values.loss_scale},
                   {"train/skipped", !values.applied},
                   {"perf/samples_per_s", samples_per_s},
                   {"perf/tokens_per_s", tokens_per_s}});
    loss_ = loss_ ? 0.95 * *loss_ + 0.05 * values.loss : values.loss;
    progress.show(values.step + 1, fmt::format("loss {:.3f}  {:.0f} samples/s  {:.0f} tokens/s",
                                               *loss_, samples_per_s, tokens_per_s));
  }

  const TrainBertOptions& options_;
  lt::Runtime& runtime_;
  Inputs inputs_;
  Classifier model_;
  int64_t steps_ = 0;
  int64_t waits_in_steps_ = 0;
  int64_t samples_ = 0;
  int64_t tokens_ = 0;
  std::optional<double> loss_;  ///< smoothed, for the eye
};

lt::PlanOptions plan_options(const TrainBertOptions& options) {
  lt::PlanOptions asked;
  asked.precision = options.precision;
  asked.global_batch = options.batch;
  asked.accumulate = options.accumulate;
  asked.seed = options.seed;
  return asked;
}

lt::Runtime make_runtime(const TrainBertOptions& options) {
  return options.simulate.empty()
             ? lt::Runtime(plan_options(options))
             : lt::Runtime::simulated(plan_options(options),
                                      lt::read_machine_facts(options.simulate));
}

/// What the run prints at its end.
std::string summary(const Json& result, bool json) {
  if (json) {
    return result.dump(2) + "\n";
  }
  std::string text;
  for (const auto& [key, value] : result.items()) {
    text +=
        fmt::format("{:20} {}\n", key, value.is_string() ? value.get<std::string>() : value.dump());
  }
  return text;
}

int run(const TrainBertOptions& options) {
  lt::set_warning_handler(
      [](const std::string& message) { fmt::print(stderr, "warning: {}\n", message); });
  if (options.plan_only) {
    lt::Runtime runtime = make_runtime(options);
    runtime.prepare(Classifier(HfDirectory::read(options.model).config));
    lt::write_output(options.json ? lt::plan_json(runtime.plan()).dump(2) + "\n"
                                  : lt::explain(runtime.plan()) + "\n");
    return lt::kExitDone;
  }
  Inputs inputs = read_inputs(options);
  lt::make_writable_directory(options.out);
  lt::Runtime runtime = make_runtime(options);
  Classifier model = runtime.prepare(load_model(options, inputs));
  std::FILE* const people = options.json ? stderr : stdout;
  fmt::print(people, "{}\n", lt::explain(runtime.plan()));
  std::fflush(people);

  Run job(options, runtime, std::move(inputs), std::move(model));
  Json result = options.eval_only ? job.evaluate_only() : job.train();
  if (runtime.simulation() == nullptr) {
    lt::write_output(summary(result, options.json));
    return lt::kExitDone;
  }
  const lt::SimulationReport seen = runtime.simulation()->report();
  if (options.json) {
    result["simulation"] = to_json(seen, job.waits_in_steps());
  }
  std::string text = summary(result, options.json);
  if (!options.json) {
    text += '\n';
    text += describe(seen, job.steps(), job.waits_in_steps());
  }
  lt::write_output(text);
  return seen.races.empty() ? lt::kExitDone : lt::kExitFailure;
}

}  // namespace
}  // namespace bert

int main(int argc, char** argv) {
  const bert::ParsedOptions parsed = bert::parse_options(argc, argv);
  if (parsed.exit_code) {
    return *parsed.exit_code;
  }
  try {
    return bert::run(parsed.options);
  } catch (const c10::Error& error) {
    fmt::print(stderr, "train_bert: {}\n", error.what_without_backtrace());
    return libtrain::kExitFailure;
  } catch (const std::exception& error) {
    fmt::print(stderr, "train_bert: {}\n", error.what());
    return libtrain::exit_code_of(error);
  }
}
