#include "libtrain/runtime/batch.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "libtrain/core/require.hpp"

namespace libtrain {

void Batch::add(Fields fields, bool per_token, int64_t rows) {
  for (auto& [name, tensor] : fields) {
    require(tensor.defined() && tensor.dim() > 0,
            "[batch.make] field {} is no tensor with a first dimension", quote(name));
    require(tensor.size(0) == rows, "[batch.make] field {} has {} rows, expected {} ({})",
            quote(name), tensor.size(0), rows, per_token ? "one a token" : "one a sample");
    const bool is_new = std::none_of(fields_.begin(), fields_.end(),
                                     [&](const Field& field) { return field.name == name; });
    require(is_new, "[batch.make] field {} stands twice", quote(name));
    fields_.push_back({std::move(name), std::move(tensor), per_token});
  }
}

Batch Batch::stacked(Fields fields) {
  require(!fields.empty(), "[batch.make] no fields, expected at least one tensor");
  const at::Tensor& first = fields.front().second;
  Batch batch;
  batch.samples_ = first.defined() && first.dim() > 0 ? first.size(0) : 0;
  batch.add(std::move(fields), false, batch.samples_);
  return batch;
}

Batch Batch::packed(PackedLayout layout, Fields token_fields, Fields sample_fields) {
  Batch batch;
  batch.samples_ = layout.samples();
  batch.layout_ = std::make_shared<const PackedLayout>(std::move(layout));
  batch.add(std::move(token_fields), true, batch.layout_->rows());
  batch.add(std::move(sample_fields), false, batch.samples_);
  return batch;
}

const at::Tensor& Batch::at(std::string_view name) const {
  const auto found = std::find_if(fields_.begin(), fields_.end(),
                                  [&](const Field& field) { return field.name == name; });
  if (found != fields_.end()) {
    return found->tensor;
  }
  std::vector<std::string> names;
  for (const Field& field : fields_) {
    names.push_back(field.name);
  }
  throw InvalidOption(
      fill("[batch.at] no field {}, expected one of: {}", quote(name), join(names, ", ")));
}

const PackedLayoutPtr& Batch::layout() const {
  require(layout_ != nullptr, "[batch.layout] this batch is stacked, expected a packed one");
  return layout_;
}

double Batch::weight() const {
  return weights_.empty() ? static_cast<double>(samples_)
                          : std::accumulate(weights_.begin(), weights_.end(), 0.0);
}

void Batch::set_weights(std::vector<double> per_sample) {
  require(static_cast<int64_t>(per_sample.size()) == samples_,
          "[batch.weights] {} weights, expected one for each of {} samples", per_sample.size(),
          samples_);
  for (const double weight : per_sample) {
    require(std::isfinite(weight) && weight >= 0.0,
            "[batch.weights] weight={}, expected a finite number >= 0", weight);
  }
  weights_ = std::move(per_sample);
}

Batch Batch::slice(int64_t first, int64_t count) const {
  require(first >= 0 && count >= 0 && first + count <= samples_,
          "[batch.slice] samples [{}, {}), expected a range within {}", first, first + count,
          samples_);
  Batch part;
  part.samples_ = count;
  part.first_sample_ = first_sample_ + first;
  int64_t first_row = 0;
  int64_t rows = 0;
  if (layout_ != nullptr) {
    part.layout_ = std::make_shared<const PackedLayout>(layout_->slice(first, count));
    first_row = layout_->begin(first);
    rows = part.layout_->rows();
  }
  for (const Field& field : fields_) {
    part.fields_.push_back({field.name,
                            field.per_token ? field.tensor.narrow(0, first_row, rows)
                                            : field.tensor.narrow(0, first, count),
                            field.per_token});
  }
  if (!weights_.empty()) {
    part.weights_.assign(weights_.begin() + first, weights_.begin() + first + count);
  }
  return part;
}

std::vector<Batch> Batch::split(int64_t parts) const {
  require(parts >= 1, "[batch.split] parts={}, expected >= 1", parts);
  const int64_t pieces = std::clamp<int64_t>(samples_, 1, parts);
  std::vector<Batch> out;
  out.reserve(static_cast<size_t>(pieces));
  int64_t first = 0;
  for (int64_t i = 0; i < pieces; ++i) {
    const int64_t count = samples_ / pieces + (i < samples_ % pieces ? 1 : 0);
    out.push_back(pieces == 1 ? *this : slice(first, count));
    first += count;
  }
  return out;
}

Batch Batch::to(at::Device device, bool non_blocking) const {
  Batch moved = *this;
  for (Field& field : moved.fields_) {
    field.tensor = field.tensor.to(device, field.tensor.scalar_type(), non_blocking);
  }
  return moved;
}

Batch Batch::pin_memory() const {
  Batch pinned = *this;
  for (Field& field : pinned.fields_) {
    field.tensor = field.tensor.pin_memory();
  }
  return pinned;
}

void Batch::record_stream(const c10::Stream& stream) const {
  for (const Field& field : fields_) {
    field.tensor.record_stream(stream);
  }
}

}  // namespace libtrain
