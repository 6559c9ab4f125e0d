// 1.3 GB of tensors: saved and loaded by libtrain. Settings: action ("save" or "load"), file,
// scratch.

#include <ATen/ops/abs.h>
#include <ATen/ops/sum.h>
#include <unistd.h>

#include <memory>
#include <string>

#include "benchmarks/programs/worker.hpp"
#include "libtrain/libtrain.hpp"

namespace benchmarks {
namespace {

namespace lt = libtrain;

Values checksum(const lt::TensorMap& tensors) {
  double sum = 0.0;
  for (const auto& [name, tensor] : tensors) {
    sum += tensor.abs().sum(at::kDouble).item<double>();
  }
  return {static_cast<double>(tensors.size()), sum};
}

Work make(const Json& settings) {
  const std::string file = settings.at("file");
  if (settings.at("action") == "load") {
    return {
        .flags = Json::object(),
        .verify = [=](int64_t) { return checksum(lt::load_file(file)); },
        .repeat = [=](int64_t) { return Values{static_cast<double>(lt::load_file(file).size())}; }};
  }
  const std::string target = settings.at("scratch").get<std::string>() + "/libtrain.safetensors";
  const auto tensors = std::make_shared<const lt::TensorMap>(lt::load_file(file));
  return {.flags = {{"fsync", true}},
          .verify =
              [=](int64_t) {
                lt::save_file(*tensors, target);
                return checksum(lt::load_file(target));
              },
          .repeat =
              [=](int64_t) {
                lt::save_file(*tensors, target);
                return Values{static_cast<double>(tensors->size())};
              },
          .before_repeat = [] { ::sync(); }};
}

}  // namespace
}  // namespace benchmarks

int main(int argc, char** argv) { return benchmarks::serve(argc, argv, benchmarks::make); }
