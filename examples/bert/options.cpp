#include "examples/bert/options.hpp"

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>

#include "libtrain/cli/exit_code.hpp"
#include "libtrain/plan/plan.hpp"

namespace bert {
namespace {

const std::map<std::string, Task> kTasks = {{"classification", Task::kClassification},
                                            {"regression", Task::kRegression}};

const CLI::Range kPositive(int64_t{1}, std::numeric_limits<int64_t>::max(), "a whole number >= 1");

/// CLI11 reads "-1" as 2^64 - 1 and cuts off what is larger.
std::string check_seed(const std::string& text) {
  uint64_t seed = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, seed);
  return stop == end && error == std::errc{} ? "" : "expected a whole number from 0 to 2^64 - 1";
}

void add_options(CLI::App& app, TrainBertOptions& options, std::string& precision) {
  app.add_option("--model", options.model,
                 "folder with config.json, model.safetensors and vocabulary")
      ->required();
  app.add_option("--train", options.train,
                 "lines of label<TAB>text or label<TAB>text<TAB>second text");
  app.add_option("--eval", options.eval, "the same, held out");
  app.add_option("--out", options.out, "folder for the trained model, metrics and predictions");
  app.add_option("--task", options.task,
                 "classification (labels are any text) or regression (numbers)")
      ->transform(CLI::CheckedTransformer(kTasks))
      ->default_str("classification");
  auto* epochs = app.add_option("--epochs", options.epochs, "passes over the training file (3)")
                     ->check(kPositive);
  app.add_option("--steps", options.steps, "updates, instead of epochs")
      ->check(kPositive)
      ->excludes(epochs);
  app.add_option("--batch", options.batch, "samples an update")
      ->check(kPositive)
      ->capture_default_str();
  app.add_option("--accumulate", options.accumulate, "micro-batches an update is split into")
      ->check(kPositive)
      ->capture_default_str();
  app.add_option("--lr", options.lr, "largest learning rate")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  app.add_option("--warmup", options.warmup, "updates of rising rate: a share below 1, or a number")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--weight-decay", options.weight_decay, "of weights; never of biases and norms")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--clip", options.clip, "largest norm of all gradients together; 0: off")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--layer-decay", options.layer_decay,
                 "factor on the rate for each layer further down")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  app.add_option("--freeze", options.freeze,
                 "parameters to leave alone, as a file-name pattern; repeatable");
  app.add_option("--max-length", options.max_length, "tokens of a text, special ones included")
      ->check(CLI::Range(int64_t{3}, int64_t{1} << 20))
      ->capture_default_str();
  app.add_option("--seed", options.seed, "of shuffling, dropout and new weights")
      ->check(check_seed)
      ->capture_default_str();
  app.add_option("--precision", precision, "auto, fp32, tf32, bf16 or fp16")
      ->check(CLI::IsMember({"auto", "fp32", "tf32", "bf16", "fp16"}))
      ->capture_default_str();
  app.add_option("--simulate", options.simulate,
                 "facts of a machine with GPUs: plan as for it, run on a simulated GPU");
  app.add_flag("--plan", options.plan_only,
               "print what would be chosen for this machine, and stop");
  app.add_flag("--eval-only", options.eval_only,
               "evaluate --model on --eval, write predictions.jsonl");
  app.add_flag("--json", options.json,
               "the result as JSON on standard output, all else on standard error");
}

/// Options that depend on each other.
void check_together(const TrainBertOptions& options) {
  const auto need = [](bool condition, const char* message) {
    if (!condition) {
      throw CLI::ValidationError(message);
    }
  };
  for (const double number :
       {options.lr, options.warmup, options.weight_decay, options.clip, options.layer_decay}) {
    need(std::isfinite(number), "numbers must be finite");  // ranges let NaN through
  }
  if (options.plan_only) {
    return;
  }
  need(!options.out.empty(), "--out is required");
  need(options.eval_only || !options.train.empty(), "--train is required (or --eval-only)");
  need(!options.eval_only || !options.eval.empty(), "--eval-only needs --eval");
  need(options.accumulate <= options.batch, "--accumulate must not be above --batch");
}

}  // namespace

ParsedOptions parse_options(int argc, const char* const* argv) {
  CLI::App app("Fine-tunes a BERT encoder on labelled text.", "train_bert");
  ParsedOptions parsed;
  std::string precision = "auto";
  add_options(app, parsed.options, precision);
  try {
    app.parse(argc, argv);
    check_together(parsed.options);
  } catch (const CLI::ParseError& error) {
    parsed.exit_code = app.exit(error) == 0 ? libtrain::kExitDone : libtrain::kExitUsage;
  }
  parsed.options.precision = libtrain::parse_precision(precision);
  return parsed;
}

}  // namespace bert
