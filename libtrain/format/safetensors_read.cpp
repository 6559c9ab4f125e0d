#include <algorithm>
#include <bit>
#include <cstring>
#include <tuple>
#include <utility>

#include "libtrain/core/text.hpp"
#include "libtrain/format/safetensors.hpp"
#include "libtrain/format/safetensors_header.hpp"
#include "libtrain/format/safetensors_layout.hpp"

namespace libtrain::format {
namespace {

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

std::string_view header_json(std::span<const std::byte> bytes, const std::string& file) {
  if (bytes.size() < kLengthBytes) {
    fail_safetensors(file, 0, "file is cut off",
                     fill("size={} bytes, expected at least {}", bytes.size(), kLengthBytes));
  }
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), kLengthBytes);
  if (length > kMaxHeaderBytes) {
    fail_safetensors(file, 0, "header is too long, or this is no safetensors file",
                     fill("length={}, expected at most {}", length, kMaxHeaderBytes));
  }
  if (length > bytes.size() - kLengthBytes) {
    fail_safetensors(file, 0, "file is cut off within the header",
                     fill("length={}, expected at most {}", length, bytes.size() - kLengthBytes));
  }
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()) + kLengthBytes, length);
  const size_t last = text.find_last_not_of(' ');
  if (!text.starts_with('{') || text[last] != '}') {
    fail_safetensors(file, kLengthBytes, "header is no JSON object",
                     "expected '{' first and '}' last but for spaces");
  }
  return text;
}

/// Throws unless the tensors, in the order of their ranges, cover the data, which starts at byte
/// `start` of the file, without gap or overlap.
void check_ranges(std::span<const HeaderTensor> tensors, int64_t start, int64_t size,
                  const std::string& file) {
  int64_t covered = 0;
  for (const HeaderTensor& tensor : tensors) {
    const auto fail = [&](std::string_view what, const std::string& detail) {
      fail_safetensors(file, tensor.offset, what,
                       fill("tensor={}, data_offsets=[{}, {}], {}", quote(tensor.name),
                            tensor.begin, tensor.end, detail));
    };
    if (tensor.end > size) {
      fail("tensor reaches past the end of the file", fill("expected at most {}", size));
    }
    if (tensor.begin < covered) {
      fail("tensors overlap", fill("expected begin={}", covered));
    }
    if (tensor.begin > covered) {
      fail("bytes before the tensor belong to no tensor", fill("expected begin={}", covered));
    }
    const std::optional<int64_t> bytes = byte_count(tensor.dtype, tensor.shape);
    if (!bytes) {
      fail("shape is too large", "expected fewer than 2^63 bytes");
    }
    if (tensor.end - tensor.begin != *bytes) {
      fail("range does not fit the shape",
           fill("dtype={}, expected {} bytes", to_text(tensor.dtype), *bytes));
    }
    covered = tensor.end;
  }
  if (covered != size) {
    fail_safetensors(file, start + covered, "bytes at the end belong to no tensor",
                     fill("data={} bytes, expected {}", size, covered));
  }
}

}  // namespace

SafetensorsHeader parse_safetensors(std::span<const std::byte> bytes, const std::string& name) {
  const std::string_view json = header_json(bytes, name);
  const std::span<const std::byte> data = bytes.subspan(kLengthBytes + json.size());
  RawHeader raw = parse_safetensors_header(json, name);
  std::sort(raw.tensors.begin(), raw.tensors.end(), [](const auto& a, const auto& b) {
    return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
  });
  check_ranges(raw.tensors, static_cast<int64_t>(bytes.size() - data.size()),
               static_cast<int64_t>(data.size()), name);

  SafetensorsHeader header;
  header.metadata = std::move(raw.metadata);
  for (HeaderTensor& tensor : raw.tensors) {
    const auto begin = static_cast<size_t>(tensor.begin);
    const auto end = static_cast<size_t>(tensor.end);
    header.tensors.emplace(std::move(tensor.name),
                           TensorEntry{.dtype = tensor.dtype,
                                       .shape = std::move(tensor.shape),
                                       .bytes = data.subspan(begin, end - begin)});
  }
  return header;
}

SafetensorsFile::SafetensorsFile(const std::string& path)
    : file_(path), header_(parse_safetensors(file_.bytes(), path)) {}

}  // namespace libtrain::format
