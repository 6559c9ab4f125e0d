#include "benchmarks/programs/texts.hpp"

#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros_like.h>

#include <utility>

#include "libtrain/core/file_system.hpp"
#include "libtrain/format/json.hpp"

namespace benchmarks {
namespace {

using libtrain::Batch;
using libtrain::format::Json;

Batch pack(const Json& samples, const Json& indices) {
  std::vector<int64_t> lengths;
  std::vector<int64_t> ids;
  std::vector<int64_t> labels;
  for (const Json& index : indices) {
    const Json& sample = samples.at(index.get<size_t>());
    const auto own = sample.at("ids").get<std::vector<int64_t>>();
    lengths.push_back(static_cast<int64_t>(own.size()));
    ids.insert(ids.end(), own.begin(), own.end());
    labels.push_back(sample.at("label").get<int64_t>());
  }
  const at::Tensor tokens = at::tensor(ids);
  return Batch::packed(libtrain::PackedLayout(lengths),
                       {{"input_ids", tokens}, {"token_type_ids", at::zeros_like(tokens)}},
                       {{"labels", at::tensor(labels)}});
}

}  // namespace

std::vector<std::vector<Batch>> read_groups(const std::string& path, const std::string& order) {
  const Json texts = libtrain::format::parse_json(libtrain::read_file(path), path);
  std::vector<std::vector<Batch>> groups;
  for (const Json& group : texts.at("groups")) {
    std::vector<Batch>& batches = groups.emplace_back();
    for (const Json& indices : group.at(order)) {
      batches.push_back(pack(texts.at("samples"), indices));
    }
  }
  return groups;
}

}  // namespace benchmarks
