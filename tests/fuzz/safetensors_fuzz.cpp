#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>

#include "libtrain/core/error.hpp"
#include "libtrain/format/safetensors.hpp"

namespace {

using namespace libtrain;
using namespace libtrain::format;

void expect(bool condition) {
  if (!condition) {
    std::abort();
  }
}

/// The tensors cover every byte after the header, and the header made from them reads back to them.
void check(const SafetensorsHeader& header, std::span<const std::byte> file) {
  size_t covered = 0;
  for (const auto& [name, tensor] : header.tensors) {
    covered += tensor.bytes.size();
    expect(tensor.bytes.data() >= file.data() &&
           tensor.bytes.data() + tensor.bytes.size() <= file.data() + file.size());
  }
  uint64_t length = 0;
  std::memcpy(&length, file.data(), sizeof(length));
  expect(covered == file.size() - sizeof(length) - length);

  std::string again = format_safetensors_header(header.tensors, header.metadata);
  again.append(covered, '\0');
  const SafetensorsHeader read = parse_safetensors(std::as_bytes(std::span(again)), "again");
  expect(read.metadata == header.metadata && read.tensors.size() == header.tensors.size());
  for (const auto& [name, tensor] : read.tensors) {
    const TensorEntry& original = header.tensors.at(name);
    expect(tensor.dtype == original.dtype && tensor.shape == original.shape);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span<const std::byte> file(reinterpret_cast<const std::byte*>(data), size);
  try {
    check(parse_safetensors(file, "input"), file);
  } catch (const BadFile& error) {
    expect(error.file() == "input" && error.offset() >= 0 &&
           error.offset() <= static_cast<int64_t>(size));
  }
  return 0;
}
