#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "libtrain/core/require.hpp"
#include "libtrain/core/text.hpp"
#include "libtrain/format/json.hpp"
#include "libtrain/format/safetensors.hpp"
#include "libtrain/format/safetensors_layout.hpp"

namespace libtrain::format {
namespace {

using Tensors = std::map<std::string, TensorEntry>;
using Metadata = std::map<std::string, std::string>;

void check(const Tensors& tensors, const Metadata& metadata) {
  for (const auto& [name, tensor] : tensors) {
    const std::string shown = quote(name);
    require(name != kMetadataKey && is_valid_utf8(name),
            "[safetensors.write] not a name for a tensor: name={}, expected UTF-8 other than {}; "
            "rename it",
            shown, kMetadataKey);
    require(
        tensor.shape.size() <= kMaxDimensions,
        "[safetensors.write] too many dimensions: tensor={}, dimensions={}, expected at most {}; "
        "reshape it",
        shown, tensor.shape.size(), kMaxDimensions);
    const std::optional<int64_t> bytes = byte_count(tensor.dtype, tensor.shape);
    require(
        bytes == static_cast<int64_t>(tensor.bytes.size()),
        "[safetensors.write] bytes do not fit the shape: tensor={}, bytes={}, expected {}; pass "
        "the whole contiguous tensor",
        shown, tensor.bytes.size(), bytes ? libtrain::to_text(*bytes) : "a shape below 2^63 bytes");
  }
  for (const auto& [key, value] : metadata) {
    require(is_valid_utf8(key) && is_valid_utf8(value),
            "[safetensors.write] metadata is not UTF-8: key={}, value={}; encode it", quote(key),
            quote(value));
  }
}

/// By falling type, then rising name: larger elements first keeps each one aligned to its size.
std::vector<const Tensors::value_type*> in_file_order(const Tensors& tensors) {
  std::vector<const Tensors::value_type*> order;
  order.reserve(tensors.size());
  for (const auto& tensor : tensors) {
    order.push_back(&tensor);
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const auto* a, const auto* b) { return a->second.dtype > b->second.dtype; });
  return order;
}

}  // namespace

std::string format_safetensors_header(const Tensors& tensors, const Metadata& metadata) {
  check(tensors, metadata);
  // Json::object_t looks every key up when one is added; a string a tensor is joined here instead.
  std::string json = "{";
  const auto add = [&](const std::string& key, const Json& value) {
    json.append(json.size() > 1 ? "," : "")
        .append(Json(key).dump())
        .append(":")
        .append(value.dump());
  };
  if (!metadata.empty()) {
    add(std::string(kMetadataKey), Json(metadata));
  }
  int64_t offset = 0;
  for (const auto* named : in_file_order(tensors)) {
    const TensorEntry& tensor = named->second;
    const int64_t end = offset + static_cast<int64_t>(tensor.bytes.size());
    add(named->first, {{"dtype", to_text(tensor.dtype)},
                       {"shape", tensor.shape},
                       {"data_offsets", {offset, end}}});
    offset = end;
  }
  json += "}";
  json.append((kLengthBytes - json.size() % kLengthBytes) % kLengthBytes, ' ');
  require(json.size() <= kMaxHeaderBytes,
          "[safetensors.write] header is too long: bytes={}, expected at most {}; shorten names or "
          "metadata, or write several files",
          json.size(), kMaxHeaderBytes);
  std::string out(kLengthBytes, '\0');
  const uint64_t length = json.size();
  std::memcpy(out.data(), &length, kLengthBytes);
  return out + json;
}

void write_safetensors(const std::string& path, const Tensors& tensors, const Metadata& metadata) {
  const std::string header = format_safetensors_header(tensors, metadata);
  write_file_atomically(path, [&](const ByteSink& sink) {
    sink(std::as_bytes(std::span(header)));
    for (const auto* named : in_file_order(tensors)) {
      sink(named->second.bytes);
    }
  });
}

}  // namespace libtrain::format
