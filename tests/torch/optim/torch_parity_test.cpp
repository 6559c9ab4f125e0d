#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "libtrain/optim/adamw.hpp"
#include "libtrain/optim/sgd.hpp"
#include "optimizer_support.hpp"

namespace libtrain {
namespace {

using nlohmann::json;

json recorded() {
  std::ifstream file(LIBTRAIN_TEST_DATA "/data/optimizer_cases.json");
  return json::parse(file);
}

template <class Options>
Options adam_options(const json& options) {
  Options out;
  out.lr = options.value("lr", out.lr);
  if (options.contains("betas")) {
    out.beta1 = options["betas"][0];
    out.beta2 = options["betas"][1];
  }
  out.eps = options.value("eps", out.eps);
  out.weight_decay = options.value("weight_decay", out.weight_decay);
  out.amsgrad = options.value("amsgrad", out.amsgrad);
  out.maximize = options.value("maximize", out.maximize);
  return out;
}

SGDOptions sgd_options(const json& options) {
  SGDOptions out;
  out.lr = options.value("lr", out.lr);
  out.momentum = options.value("momentum", out.momentum);
  out.dampening = options.value("dampening", out.dampening);
  out.weight_decay = options.value("weight_decay", out.weight_decay);
  out.nesterov = options.value("nesterov", out.nesterov);
  out.maximize = options.value("maximize", out.maximize);
  return out;
}

std::unique_ptr<Optimizer> make(const json& one, Parameters parameters) {
  const std::string name = one["optimizer"];
  if (name == "AdamW") {
    return std::make_unique<AdamW>(std::move(parameters),
                                   adam_options<AdamWOptions>(one["options"]));
  }
  if (name == "Adam") {
    return std::make_unique<Adam>(std::move(parameters), adam_options<AdamOptions>(one["options"]));
  }
  return std::make_unique<SGD>(std::move(parameters), sgd_options(one["options"]));
}

Parameters group(const json& one, const std::vector<Parameter>& parameters) {
  if (one["second_group"].is_null()) {
    return test::one_group(parameters);
  }
  GroupOptions options;
  options.lr = one["second_group"]["lr"].get<double>();
  options.weight_decay = one["second_group"]["weight_decay"].get<double>();
  return {{{{parameters[0], parameters[2]}, {}}, {{parameters[1]}, options}}, {}};
}

enum class Path {
  kHost,          ///< the CPU kernels
  kHostScaled,    ///< gradients 1024 times too large, divided by the kernels
  kDevice,        ///< ATen's fused operators
  kDeviceScaled,  ///< with divisor, lr factor and skipped updates in between
  kTransposed,    ///< parameters with strides of a transposed matrix
};

void update(Optimizer& optimizer, const std::vector<Parameter>& parameters, Path path) {
  const auto number = [&](double value) {
    return at::scalar_tensor(value, parameters[0].tensor.options());
  };
  switch (path) {
    case Path::kHost:
    case Path::kTransposed:
      optimizer.update(HostUpdate{});
      return;
    case Path::kHostScaled:
      optimizer.update(HostUpdate{.lr_factor = 1.0, .grad_multiplier = 1.0 / 1024});
      return;
    case Path::kDevice:
      optimizer.update(DeviceUpdate{});
      return;
    case Path::kDeviceScaled: {
      DeviceUpdate skipped{number(1.0), number(1024.0), number(1.0)};
      std::vector<at::Tensor> kept;
      for (const Parameter& parameter : parameters) {
        at::Tensor& gradient = parameter.tensor.mutable_grad();
        kept.push_back(gradient);
        if (gradient.defined()) {
          gradient = at::full_like(gradient, INFINITY);
        }
      }
      optimizer.update(skipped);
      for (size_t i = 0; i < kept.size(); ++i) {
        parameters[i].tensor.mutable_grad() = kept[i];
      }
      optimizer.update(DeviceUpdate{number(1.0), number(1024.0), number(0.0)});
      return;
    }
  }
}

/// The parameters of one case on `device` after all steps.
std::vector<at::Tensor> trained(const json& file, const json& one, Path path, at::Device device) {
  const bool scaled = path == Path::kHostScaled || path == Path::kDeviceScaled;
  const std::vector<std::vector<int64_t>> shapes = file["shapes"];
  std::vector<Parameter> parameters;
  for (size_t i = 0; i < shapes.size(); ++i) {
    at::Tensor initial = test::values(shapes[i], 1000 * static_cast<int64_t>(i)).to(device);
    if (path == Path::kTransposed && shapes[i].size() == 2) {
      initial = initial.t().contiguous().t();
    }
    parameters.push_back({std::string("p").append(std::to_string(i)), initial.requires_grad_()});
  }
  const std::unique_ptr<Optimizer> optimizer = make(one, group(one, parameters));
  for (int64_t step = 0; step < file["steps"]; ++step) {
    for (size_t i = 0; i < shapes.size(); ++i) {
      const at::Tensor gradient =
          test::values(shapes[i], 1000 * static_cast<int64_t>(i) + 100000 * (step + 1)).to(device);
      parameters[i].tensor.mutable_grad() = scaled ? gradient * 1024 : gradient;
    }
    if (step % 3 == 0) {
      parameters[2].tensor.mutable_grad().reset();
    }
    const testing_support::NoHostWait while_updating;
    update(*optimizer, parameters, path);
  }
  std::vector<at::Tensor> result;
  for (const Parameter& parameter : parameters) {
    result.push_back(parameter.tensor.detach().cpu());
  }
  return result;
}

class TorchParity : public testing::TestWithParam<Path> {};

// 50 steps of sums of some ten roundings each: 1e-6 of values near 1 is 8 fp32 units.
TEST_P(TorchParity, FiftyStepsGiveTheWeightsOfTorchOptim) {
  const json file = recorded();
  for (const json& one : file["cases"]) {
    const std::vector<at::Tensor> weights = trained(file, one, GetParam(), test::test_device());
    for (size_t i = 0; i < weights.size(); ++i) {
      const at::Tensor expected = at::tensor(one["result"][i].get<std::vector<double>>());
      const double difference = (weights[i].to(at::kDouble) - expected.reshape(weights[i].sizes()))
                                    .abs()
                                    .max()
                                    .item<double>();
      EXPECT_LE(difference, 1e-6) << one["optimizer"] << " " << one["options"] << " "
                                  << one["second_group"] << " parameter " << i;
    }
  }
}

// A simulated device runs ATen's operators of the CPU, but not the library's kernels.
TEST(TorchParityOnDevice, HasTheBitsOfAtensOperatorsOnTheCpu) {
  if (!testing_support::on_simulated_device()) {
    GTEST_SKIP() << "compares a simulated device with the CPU";
  }
  const json file = recorded();
  for (const Path path : {Path::kDevice, Path::kDeviceScaled}) {
    for (const json& one : file["cases"]) {
      const std::vector<at::Tensor> weights = trained(file, one, path, test::test_device());
      const std::vector<at::Tensor> expected = trained(file, one, path, at::kCPU);
      for (size_t i = 0; i < weights.size(); ++i) {
        EXPECT_TRUE(test::same_bits(weights[i], expected[i]))
            << one["optimizer"] << " " << one["options"] << " parameter " << i;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Paths, TorchParity,
                         testing::Values(Path::kHost, Path::kHostScaled, Path::kDevice,
                                         Path::kDeviceScaled, Path::kTransposed),
                         [](const auto& info) {
                           switch (info.param) {
                             case Path::kHost:
                               return "Host";
                             case Path::kHostScaled:
                               return "HostScaled";
                             case Path::kDevice:
                               return "Device";
                             case Path::kDeviceScaled:
                               return "DeviceScaledWithSkips";
                             default:
                               return "TransposedLayout";
                           }
                         });

}  // namespace
}  // namespace libtrain
