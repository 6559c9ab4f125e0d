#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "libtrain/amp/grad_scaler.hpp"
#include "libtrain/core/error.hpp"
#include "libtrain/optim/sgd.hpp"
#include "tests/support/test_device.hpp"

namespace libtrain {
namespace {

using nlohmann::json;
using testing_support::on_cpu;
using testing_support::on_device;
using testing_support::test_device;

float gradient_number(const std::string& kind) {
  return kind == "finite" ? 3.0F : kind == "infinite" ? INFINITY : NAN;
}

/// Two optimizers of one weight each under one scaler.
struct Replay {
  explicit Replay(const json& recorded) {
    options.initial = recorded["init_scale"];
    options.growth_factor = recorded["growth_factor"];
    options.backoff_factor = recorded["backoff_factor"];
    options.growth_interval = recorded["growth_interval"];
    // PyTorch has no bounds.
    options.min_scale = 1e-30;
    options.max_scale = 1e38;
    scaler = std::make_unique<GradScaler>(test_device(), options);
    for (const char* name : {"a", "b"}) {
      weights.push_back(at::zeros({1}, on_device()).requires_grad_());
      optimizers.push_back(std::make_unique<SGD>(Parameters{{{{{name, weights.back()}}, {}}}, {}},
                                                 SGDOptions{.lr = 1.0}));
    }
  }

  std::string call(const std::string& name, const json& argument) {
    if (name == "scale") {
      scaler->scale(at::ones({}, on_device()));
    } else if (name == "gradient") {
      at::Tensor& gradient = weights[argument[0].get<size_t>()].mutable_grad();
      gradient = argument[1] == "none" ? at::Tensor()
                                       : at::full({1}, gradient_number(argument[1]), on_device());
    } else if (name == "unscale") {
      scaler->unscale_(*optimizers[argument.get<size_t>()]);
    } else if (name == "step") {
      const StepOutcome outcome = scaler->step(*optimizers[argument.get<size_t>()]);
      return outcome == StepOutcome::kApplied       ? "applied"
             : outcome == StepOutcome::kSkipped     ? "skipped"
             : outcome == StepOutcome::kNoGradients ? "none"
                                                    : "decided on the device";
    } else if (name == "update") {
      argument.is_null() ? scaler->update() : scaler->update(argument.get<double>());
    } else if (name == "interval") {
      scaler->set_growth_interval(argument);
    } else {
      const GradScalerState state = scaler->state_dict();
      scaler = std::make_unique<GradScaler>(test_device(), options);
      scaler->load_state_dict(state);
    }
    return "ok";
  }

  std::string outcome(const std::string& name, const json& argument) {
    try {
      return call(name, argument);
    } catch (const InvalidOption&) {
      return "error";
    }
  }

  LossScaleOptions options;
  std::unique_ptr<GradScaler> scaler;
  std::vector<at::Tensor> weights;
  std::vector<std::unique_ptr<SGD>> optimizers;
};

/// A device does not tell whether it skipped; the weights do.
std::string expected_outcome(const std::string& recorded) {
  return !on_cpu() && (recorded == "applied" || recorded == "skipped") ? "decided on the device"
                                                                       : recorded;
}

TEST(GradScalerParity, EverySequenceOfCallsDecidesAsTorchDoes) {
  std::ifstream file(LIBTRAIN_TEST_DATA "/data/grad_scaler_cases.json");
  const json cases = json::parse(file);
  ASSERT_GE(cases.size(), 50U);
  for (size_t number = 0; number < cases.size(); ++number) {
    const json& recorded = cases[number];
    Replay replay(recorded["options"]);
    int position = 0;
    for (const json& call : recorded["calls"]) {
      const std::string where = "case " + std::to_string(number) + ", call " +
                                std::to_string(position++) + ": " + call.dump();
      ASSERT_EQ(replay.outcome(call[0], call[1]), expected_outcome(call[2])) << where;
      ASSERT_EQ(replay.scaler->get_scale(), call[3].get<double>()) << where;
      ASSERT_EQ(replay.scaler->state_dict().at("_growth_tracker"), call[4].get<double>()) << where;
    }
    for (size_t i = 0; i < replay.weights.size(); ++i) {
      const double expected = recorded["weights"][i];
      EXPECT_NEAR(replay.weights[i].item<double>(), expected, 1e-6 * std::abs(expected)) << number;
    }
  }
}

}  // namespace
}  // namespace libtrain
